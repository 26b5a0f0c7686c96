#include "agent/own_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>

#include "agent/files.h"
#include "base/strings.h"

namespace muster::agent {
namespace {

std::string text_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address->sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  }
  if (bytes == nullptr) return {};
  return ::inet_ntop(address->sa_family, bytes, text, sizeof text) == nullptr ? std::string()
                                                                              : text;
}

std::vector<std::string> device_addresses() {
  std::vector<std::string> out;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return out;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (auto text = text_of(one->ifa_addr); !text.empty()) out.push_back(std::move(text));
  }
  ::freeifaddrs(list);
  return out;
}

}  // namespace

std::vector<std::string> addresses_in_hosts(std::string_view hosts, std::string_view name) {
  std::vector<std::string> found;
  for (auto line : split(hosts, '\n')) {
    line = line.substr(0, line.find('#'));
    std::string_view address;
    for (std::size_t at = 0; at < line.size();) {
      const auto begin = line.find_first_not_of(" \t\r", at);
      if (begin == std::string_view::npos) break;
      const auto end = std::min(line.find_first_of(" \t\r", begin), line.size());
      const auto word = line.substr(begin, end - begin);
      if (address.empty()) {
        address = word;
      } else if (equal_ignoring_case(word, name)) {
        found.emplace_back(address);
        break;
      }
      at = end;
    }
  }
  return found;
}

std::vector<std::string> own_addresses() {
  char host[256] = {};
  std::vector<std::string> out;
  const auto hosts = read_file("/etc/hosts");
  if (hosts && ::gethostname(host, sizeof host - 1) == 0) out = addresses_in_hosts(*hosts, host);
  for (auto& address : device_addresses()) {
    if (std::ranges::find(out, address) == out.end()) out.push_back(std::move(address));
  }
  return out;
}

}  // namespace muster::agent
