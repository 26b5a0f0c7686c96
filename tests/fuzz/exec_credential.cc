// Any bytes as what an exec plugin prints.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cluster/kube/access/exec_credential.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::cluster::kube;
  const ExecPlugin plugin{.api_version = "client.authentication.k8s.io/v1", .command = "a"};
  const auto said = read_exec_credential(plugin, {reinterpret_cast<const char*>(data), size});
  if (!said) return 0;
  if (said->token.empty() && said->identity.certificate_pem.empty()) std::abort();
  if (said->token.reveal().find_first_of("\r\n ") != std::string::npos) std::abort();
  return 0;
}
