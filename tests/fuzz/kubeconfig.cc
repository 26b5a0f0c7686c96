// Any bytes as a kubeconfig, and as every file that it names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cluster/kube/config/kubeconfig.h"
#include "cluster/kube/config/proxy.h"

namespace {

using namespace muster;
using namespace muster::cluster::kube;

class OneFile final : public FileReader {
 public:
  explicit OneFile(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] Result<std::string> read(const std::string&) const override { return text_; }

 private:
  std::string text_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  const auto server = parse_server(text);
  if (server && !server->is_socket() && (server->host.empty() || server->port == 0)) std::abort();
  const auto proxy = parse_proxy(text);
  if (proxy && (proxy->host.empty() || proxy->port == 0)) std::abort();
  if (proxy && proxy->authorization.reveal().find_first_of("\r\n") != std::string::npos)
    std::abort();
  [[maybe_unused]] const auto through =
      proxy_for({.host = "10.0.0.1", .port = 1}, {.https_proxy = "p", .no_proxy = text});
  const OneFile files(std::move(text));
  for (const auto insecure : {Insecure::Refuse, Insecure::Allow}) {
    const auto config =
        load_kubeconfig({.paths = {"/a/config", "/b/config"}, .insecure = insecure}, files);
    if (!config) continue;
    if (config->insecure && insecure == Insecure::Refuse) std::abort();
    if (config->token.reveal().find_first_of("\r\n") != std::string::npos) std::abort();
    if (config->server.host.empty() && config->server.socket_path.empty()) std::abort();
  }
  return 0;
}
