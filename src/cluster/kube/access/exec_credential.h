#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"
#include "base/time.h"
#include "cluster/kube/config/exec_plugin.h"
#include "net/tls/tls.h"

namespace muster::cluster::kube {

// What a plugin said of us: a token, a certificate, or both.
struct ExecCredential {
  Secret token;
  net::Identity identity;
  std::optional<Time> expires;  // none: good until a server refuses it
};

enum class Terminal { Absent, Present };

// What a plugin is told, in KUBERNETES_EXEC_INFO.
std::string exec_info(const ExecPlugin& plugin, Terminal terminal);

// What a plugin printed. No error quotes any of it.
Result<ExecCredential> read_exec_credential(const ExecPlugin& plugin, std::string_view printed);

// One sentence: whose plugin, which program, what is wrong, and how its owner says to get it.
Error plugin_error(const ExecPlugin& plugin, std::string_view what);

}  // namespace muster::cluster::kube
