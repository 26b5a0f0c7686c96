#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/secret.h"
#include "base/time.h"
#include "cluster/kube/access/exec_runner.h"
#include "cluster/kube/config/client_config.h"
#include "net/tls/tls.h"
#include "rt/scope.h"

namespace muster::cluster::kube {

// Who a client is, at this moment, and whom it trusts: its bearer token, its client certificate,
// the server's CA. All may change while it lives. Files (a projected service-account token,
// replaced by the kubelet as it ages; certificates that are renewed) are read again before each new
// connection and each request, but not more often than every ten seconds for requests; what cannot
// be read, or is no certificate with its key, changes nothing. A plugin is asked when there is
// nothing that is still good, by one request for all that wait; what it says is used until it
// expires or a server refuses it. Reads of at most four small files happen on the loop. Shared by
// all connections of a client; lives on one loop; close() it before it is destroyed.
class Credentials {
 public:
  // `files` outlives it. `runner` may be null where there is no plugin.
  Credentials(rt::Loop& loop, const ClientConfig& config, const FileReader& files,
              std::unique_ptr<ExecRunner> runner = nullptr);

  // Before each request and connection: what follows is up to date when it returns.
  Task<Result<void>> refresh();
  [[nodiscard]] const Secret& token() const { return token_; }  // empty: none
  [[nodiscard]] const net::Identity& identity() const { return identity_; }
  [[nodiscard]] const std::string& ca_pem() const { return ca_pem_; }

  // Reads the files now. For those who make a connection: whoever broke the last one may have new
  // certificates.
  void look_at_files();

  // Grows with each change of anything above, and with each change of what connections are made of.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] std::uint64_t connection_version() const { return connection_version_; }

  // The server said 401 to what was presented as `version`. True when there is something else to
  // present, which refresh() fetches: worth one more try.
  bool refused(std::uint64_t version);

  // The text with every token that was in use replaced: servers and proxies may echo what we sent.
  [[nodiscard]] std::string redacted(std::string text) const;

  Task<void> close() { return scope_.close(); }

 private:
  struct Asking;

  void look_at_files_in_time();
  void read_token();
  void read_identity();
  void read_ca();
  void use_token(Secret token);
  void use_identity(net::Identity identity);
  Task<void> ask(std::shared_ptr<Asking> asking);
  void take(ExecCredential credential);
  [[nodiscard]] bool answer_is_good() const;

  rt::Loop& loop_;
  const FileReader& files_;
  std::unique_ptr<ExecRunner> runner_;
  std::optional<ExecPlugin> plugin_;

  Secret token_;
  Secret previous_;
  net::Identity identity_;
  std::string ca_pem_;
  std::uint64_t version_ = 1;
  std::uint64_t connection_version_ = 1;

  struct Files {
    std::string token, certificate, key, ca;
  };
  Files watched_;  // empty: none
  std::optional<Monotonic> read_at_;

  std::shared_ptr<Asking> asking_;  // the plugin runs
  bool answered_ = false;           // what the plugin said last is in use
  std::optional<Time> expires_;
  std::uint64_t refused_version_ = 0;  // for which the plugin was asked again
  Monotonic asked_at_;
  rt::TaskScope scope_;
};

}  // namespace muster::cluster::kube
