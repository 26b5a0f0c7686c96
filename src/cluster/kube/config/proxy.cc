#include "cluster/kube/config/proxy.h"

#include <arpa/inet.h>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cluster::kube {
namespace {

constexpr std::string_view kForm = "a proxy is http://[USER:PASSWORD@]HOST[:PORT]";

std::unexpected<Error> bad_proxy(std::string_view url, std::string_view why) {
  // What stands before the @ is nobody's business.
  const auto at = url.rfind('@');
  const auto scheme = url.find("://");
  std::string shown(url.substr(0, 256));
  if (at != std::string_view::npos) {
    const auto prefix = scheme == std::string_view::npos ? "" : url.substr(0, scheme + 3);
    shown = fmt::format("{}…{}", prefix, url.substr(at).substr(0, 256));
  }
  return fail(ErrorCode::Invalid,
              fmt::format("proxy \"{}\": {}; {}", printable(shown), why, kForm));
}

// An IPv4 or IPv6 address as bytes; empty for anything else.
std::string address_of(std::string_view text) {
  const std::string name(text);
  std::string bytes(16, '\0');
  if (::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1) return bytes;
  bytes.resize(4);
  if (::inet_pton(AF_INET, name.c_str(), bytes.data()) == 1) return bytes;
  return {};
}

struct HostPort {
  std::string_view host;
  std::string_view port;  // empty: none
};

// host, host:port, [address]:port, or an IPv6 address alone.
HostPort split_port(std::string_view text) {
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return {text, {}};
    const auto rest = text.substr(close + 1);
    return {text.substr(1, close - 1), rest.starts_with(':') ? rest.substr(1) : ""};
  }
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || text.find(':') != colon) return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool is_inside(std::string_view address, std::string_view range, std::int64_t bits) {
  if (address.size() != range.size() || bits < 0 ||
      bits > static_cast<std::int64_t>(range.size() * 8))
    return false;
  for (std::size_t i = 0; i < range.size() && bits > 0; ++i, bits -= 8) {
    const auto mask = static_cast<unsigned char>(bits >= 8 ? 0xff : 0xff00U >> bits);
    if (((static_cast<unsigned char>(address[i]) ^ static_cast<unsigned char>(range[i])) & mask) !=
        0)
      return false;
  }
  return true;
}

bool is_loopback(std::string_view host, std::string_view address) {
  if (host == "localhost") return true;
  return is_inside(address, std::string("\x7f\0\0\0", 4), 8) ||
         is_inside(address, std::string(15, '\0') + '\x01', 128);
}

// One entry of NO_PROXY, in lower case without space around it.
bool names(std::string_view entry, std::string_view host, std::string_view address,
           std::string_view port) {
  if (entry == "*") return true;
  if (const auto slash = entry.find('/'); slash != std::string_view::npos) {
    const auto bits = parse_int(entry.substr(slash + 1));
    const std::string range = address_of(entry.substr(0, slash));
    return bits && !range.empty() && is_inside(address, range, *bits);
  }
  const auto [name, only_port] = split_port(entry);
  if (!only_port.empty() && only_port != port) return false;
  if (const std::string other = address_of(name); !other.empty()) return other == address;
  std::string_view suffix = name;
  if (suffix.starts_with("*.")) suffix.remove_prefix(1);
  if (suffix.starts_with('.')) return suffix.size() > 1 && host.ends_with(suffix);
  return !suffix.empty() && (host == suffix || host.ends_with(fmt::format(".{}", suffix)));
}

bool goes_direct(const Server& server, std::string_view no_proxy) {
  const std::string host = to_lower(server.host);
  const std::string address = address_of(host);
  if (is_loopback(host, address)) return true;
  const std::string port = std::to_string(server.port);
  for (const auto entry : split(no_proxy, ',')) {
    const std::string name = to_lower(trim(entry));
    if (!name.empty() && names(name, host, address, port)) return true;
  }
  return false;
}

Result<Secret> authorization_of(std::string_view url, std::string_view user) {
  if (user.empty()) return Secret();
  const auto colon = user.find(':');
  const auto name = percent_decode(user.substr(0, colon));
  const auto password =
      percent_decode(colon == std::string_view::npos ? "" : user.substr(colon + 1));
  if (!name || !password) return bad_proxy(url, "a % in user or password is not an escape");
  return Secret("Basic " + base64_encode(fmt::format("{}:{}", *name, *password)));
}

}  // namespace

Result<net::HttpProxy> parse_proxy(std::string_view url) {
  if (url.size() > 2048) return bad_proxy(url, "longer than 2048 bytes");
  std::string_view rest = url;
  if (const auto scheme = url.find("://"); scheme != std::string_view::npos) {
    const std::string name = to_lower(url.substr(0, scheme));
    if (name != "http") {
      return bad_proxy(url, fmt::format("{} proxies are not supported, only http ones with CONNECT",
                                        printable(name)));
    }
    rest = url.substr(scheme + 3);
  }
  rest = rest.substr(0, rest.find('/'));
  const auto at = rest.rfind('@');
  const auto user = at == std::string_view::npos ? "" : rest.substr(0, at);
  if (at != std::string_view::npos) rest = rest.substr(at + 1);
  const auto [host, port_text] = split_port(rest);
  if (host.empty()) return bad_proxy(url, "there is no host");
  for (const char c : host) {
    if (c <= ' ' || c > '~') return bad_proxy(url, "not a host name");
  }
  const auto port = port_text.empty() ? 80 : parse_int(port_text).value_or(0);
  if (port < 1 || port > 65535 || rest.ends_with(':'))
    return bad_proxy(url, "the port is not 1 to 65535");
  return net::HttpProxy{.host = std::string(host),
                        .port = static_cast<std::uint16_t>(port),
                        .authorization = TRY(authorization_of(url, user))};
}

Result<std::optional<net::HttpProxy>> proxy_for(const Server& server,
                                                const ProxyEnvironment& environment) {
  const auto url = trim(environment.https_proxy);
  if (url.empty() || server.is_socket() || goes_direct(server, environment.no_proxy))
    return std::nullopt;
  auto proxy = parse_proxy(url);
  if (!proxy) return fail(proxy.error().in("HTTPS_PROXY"));
  return std::move(*proxy);
}

}  // namespace muster::cluster::kube
