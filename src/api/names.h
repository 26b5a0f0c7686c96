#pragma once

#include <optional>
#include <string>
#include <string_view>

// What Kubernetes accepts as names. Each gives nothing when all is well, else the sentence that
// says what would be right.
namespace muster::api {

std::optional<std::string> check_dns_label(std::string_view name);      // RFC 1123, at most 63
std::optional<std::string> check_dns_subdomain(std::string_view name);  // RFC 1123, at most 253
std::optional<std::string> check_service_name(std::string_view name);   // RFC 1035, at most 63
std::optional<std::string> check_label_key(std::string_view key);
std::optional<std::string> check_label_value(std::string_view value);
std::optional<std::string> check_env_name(std::string_view name);
std::optional<std::string> check_port_name(std::string_view name);  // IANA service name, at most 15

}  // namespace muster::api
