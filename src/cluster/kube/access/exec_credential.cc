#include "cluster/kube/access/exec_credential.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "cluster/kube/config/client_config.h"
#include "json/read.h"
#include "json/write.h"

namespace muster::cluster::kube {
namespace {

using json::Value;

constexpr std::size_t kMostHint = 1024;

std::unexpected<Error> bad(const ExecPlugin& plugin, std::string_view what) {
  return fail(plugin_error(plugin, what));
}

Result<std::string> text_of(const ExecPlugin& plugin, const Value& status, std::string_view field) {
  const Value& value = status[field];
  if (value.is_null()) return std::string();
  if (!value.is_string()) {
    return bad(plugin, fmt::format("printed a status.{} that is {}, it must be a string", field,
                                   value.type_name()));
  }
  return value.as_string();
}

bool is_pem(std::string_view text) {
  return text.contains("-----BEGIN ");
}

}  // namespace

Error plugin_error(const ExecPlugin& plugin, std::string_view what) {
  std::string hint;
  for (const char c : plugin.install_hint.substr(0, kMostHint)) hint += c == '\n' ? ' ' : c;
  hint = printable(trim(hint));
  return {.code = ErrorCode::Unauthorized,
          .message = fmt::format("{}: its exec plugin \"{}\" {}{}{}", plugin.where,
                                 printable(plugin.command.substr(0, 256)), what,
                                 hint.empty() ? "" : "; ", hint)};
}

std::string exec_info(const ExecPlugin& plugin, Terminal terminal) {
  Value info = json::Object{{"kind", "ExecCredential"}, {"apiVersion", plugin.api_version}};
  info["spec"]["interactive"] = terminal == Terminal::Present;
  if (!plugin.cluster.is_null()) info["spec"]["cluster"] = plugin.cluster;
  return json::write(info);
}

Result<ExecCredential> read_exec_credential(const ExecPlugin& plugin, std::string_view printed) {
  const auto read = json::read(printed);
  if (!read || !read->is_object())
    return bad(plugin, "printed something that is not an ExecCredential in JSON");
  const Value& said = *read;
  if (said["kind"].as_string() != "ExecCredential")
    return bad(plugin, "printed an object whose kind is not ExecCredential");
  if (said["apiVersion"].as_string() != plugin.api_version) {
    return bad(
        plugin,
        fmt::format("printed an ExecCredential of apiVersion \"{}\", the user entry wants {}",
                    printable(said["apiVersion"].as_string().substr(0, 128)), plugin.api_version));
  }
  const Value& status = said["status"];
  if (!status.is_object()) return bad(plugin, "printed an ExecCredential without a status");
  ExecCredential out;
  out.token = Secret(TRY(text_of(plugin, status, "token")));
  out.identity.certificate_pem = TRY(text_of(plugin, status, "clientCertificateData"));
  out.identity.key_pem = Secret(TRY(text_of(plugin, status, "clientKeyData")));
  const bool has_certificate = !out.identity.certificate_pem.empty();
  if (has_certificate == out.identity.key_pem.empty())
    return bad(plugin, "printed only one of clientCertificateData and clientKeyData");
  if (out.token.empty() && !has_certificate)
    return bad(plugin, "printed neither a token nor a client certificate");
  if (!is_token(out.token.reveal())) return bad(plugin, "printed a token that is not one word");
  if (has_certificate &&
      (!is_pem(out.identity.certificate_pem) || !is_pem(out.identity.key_pem.reveal())))
    return bad(plugin, "printed a client certificate or key that is not PEM");
  const std::string expires = TRY(text_of(plugin, status, "expirationTimestamp"));
  if (expires.empty()) return out;
  const auto at = parse_time(expires);
  if (!at) return bad(plugin, "printed an expirationTimestamp that is not a time");
  out.expires = *at;
  return out;
}

}  // namespace muster::cluster::kube
