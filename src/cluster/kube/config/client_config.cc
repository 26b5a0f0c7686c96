#include "cluster/kube/config/client_config.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cluster::kube {
namespace {

constexpr std::string_view kForms =
    "a server is https://HOST[:PORT][/PREFIX] or unix:///PATH/TO/SOCKET";
constexpr std::string_view kAccountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

std::unexpected<Error> bad_server(std::string_view url, std::string_view why) {
  return fail(ErrorCode::Invalid,
              fmt::format("server \"{}\": {}; {}", printable(url.substr(0, 256)), why, kForms));
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

bool is_address_character(char c) {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' ||
         c == '.' || c == '%';
}

bool is_prefix_character(char c) {
  return c > ' ' && c < 0x7f && c != '?' && c != '#' && c != '"';
}

// Splits host and port; the port is empty when there is none.
struct HostPort {
  std::string_view host;
  std::string_view port;
};
Result<HostPort> split_authority(std::string_view url, std::string_view authority) {
  if (authority.contains('@')) {
    return fail(ErrorCode::Invalid,
                fmt::format("the server's address holds credentials before an @; put them into the "
                            "user entry; {}",
                            kForms));
  }
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return bad_server(url, "[ without ]");
    const auto host = authority.substr(1, close - 1);
    const auto rest = authority.substr(close + 1);
    for (const char c : host) {
      if (!is_address_character(c)) return bad_server(url, "not an IPv6 address in [ ]");
    }
    if (rest.empty()) return HostPort{host, {}};
    if (!rest.starts_with(':')) return bad_server(url, "something between ] and the port");
    return HostPort{host, rest.substr(1)};
  }
  const auto colon = authority.find(':');
  const auto host = authority.substr(0, colon);
  for (const char c : host) {
    if (!is_host_character(c)) return bad_server(url, "not a host name");
  }
  if (colon == std::string_view::npos) return HostPort{host, {}};
  return HostPort{host, authority.substr(colon + 1)};
}

Result<Server> parse_socket(std::string_view url, std::string_view path) {
  // sun_path holds 108 bytes with its final NUL.
  constexpr std::size_t kMaxSocketPath = 107;
  if (!path.starts_with('/')) return bad_server(url, "the socket's path must be absolute");
  if (path.size() > kMaxSocketPath) {
    return bad_server(url,
                      fmt::format("the socket's path is longer than {} bytes", kMaxSocketPath));
  }
  if (path.contains('\0')) return bad_server(url, "the socket's path holds a NUL");
  return Server{.socket_path = std::string(path)};
}

}  // namespace

bool is_token(std::string_view token) {
  for (const char c : token) {
    if (c <= ' ' || c > '~') return false;
  }
  return true;
}

std::string Server::authority() const {
  if (is_socket()) return "localhost";
  const bool brackets = host.contains(':');
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", host, brackets ? "]" : "", port);
}

Result<Server> parse_server(std::string_view url) {
  constexpr std::string_view kUnix = "unix://";
  constexpr std::string_view kHttps = "https://";
  if (url.size() > 2048) return bad_server(url, "longer than 2048 bytes");
  if (url.starts_with(kUnix)) return parse_socket(url, url.substr(kUnix.size()));
  if (url.starts_with("http://")) {
    return bad_server(url, "plain HTTP would show the credentials to everybody on the way");
  }
  if (!url.starts_with(kHttps)) return bad_server(url, "not an address that can be used");
  const auto rest = url.substr(kHttps.size());
  const auto slash = rest.find('/');
  const auto [host, port_text] = TRY(split_authority(url, rest.substr(0, slash)));
  if (host.empty()) return bad_server(url, "there is no host");
  std::int64_t port = 443;
  if (!port_text.empty()) {
    const auto parsed = parse_int(port_text);
    if (!parsed || *parsed < 1 || *parsed > 65535)
      return bad_server(url, "the port is not 1 to 65535");
    port = *parsed;
  }
  std::string prefix(slash == std::string_view::npos ? "" : rest.substr(slash));
  for (const char c : prefix) {
    if (!is_prefix_character(c))
      return bad_server(url, "the path holds a character that must not be there");
  }
  while (prefix.ends_with('/')) prefix.pop_back();
  return Server{.host = std::string(host),
                .port = static_cast<std::uint16_t>(port),
                .prefix = std::move(prefix)};
}

Result<ClientConfig> in_cluster_config(std::string_view service_host, std::string_view service_port,
                                       const FileReader& files) {
  if (service_host.empty() || service_port.empty()) {
    return fail(
        ErrorCode::NotFound,
        "not inside a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  const bool is_address6 = service_host.contains(':') && !service_host.starts_with('[');
  auto server =
      parse_server(is_address6 ? fmt::format("https://[{}]:{}", service_host, service_port)
                               : fmt::format("https://{}:{}", service_host, service_port));
  if (!server) return fail(server.error().in("KUBERNETES_SERVICE_HOST and _PORT"));
  ClientConfig config{.context = "in-cluster", .server = std::move(*server)};
  config.token_file = fmt::format("{}/token", kAccountDirectory);
  // Read once now, so that a pod without a service account says so at its start.
  config.token = Secret(std::string(trim(TRY(files.read(config.token_file)))));
  if (config.token.empty()) {
    return fail(ErrorCode::Invalid, fmt::format("{}: the token is empty", config.token_file));
  }
  config.ca_file = fmt::format("{}/ca.crt", kAccountDirectory);
  config.ca_pem = TRY(files.read(config.ca_file));
  if (const auto ns = files.read(fmt::format("{}/namespace", kAccountDirectory)); ns) {
    if (const auto name = trim(*ns); !name.empty()) config.ns = name;
  }
  return config;
}

}  // namespace muster::cluster::kube
