#include "agent/kubernetes_api.h"

#include <fmt/format.h>

#include "agent/files.h"
#include "agent/output.h"
#include "base/strings.h"
#include "json/read.h"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRetryPause = 500ms;
constexpr Duration kAnswerLimit = 30s;

bool may_pass(int status) {
  return status == 429 || status >= 500;
}

// What the server itself says, from its Status object.
std::string message_of(const std::string& body) {
  const auto status = json::read(body);
  return status ? (*status)["message"].as_string() : std::string();
}

// "default:trainer" from a message that names system:serviceaccount:default:trainer.
std::string account_in(std::string_view message) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  const auto at = message.find(kPrefix);
  if (at == std::string_view::npos) return {};
  message.remove_prefix(at + kPrefix.size());
  return std::string(message.substr(0, message.find_first_of("\" ")));
}

Error forbidden(const std::string& message, const std::string& ns) {
  auto account = account_in(message);
  if (account.empty()) account = ns + ":default";
  return {
      .code = ErrorCode::Forbidden,
      .message = fmt::format(
          "403: service account {0} may not list pods in namespace {1}; grant it: kubectl -n {1} "
          "create role pod-lister --verb=list --resource=pods && kubectl -n {1} create rolebinding "
          "pod-lister --role=pod-lister --serviceaccount={0}",
          account, ns)};
}

}  // namespace

std::string pod_namespace(const std::string& service_account) {
  const auto text = read_file(service_account + "/namespace");
  return text ? std::string(trim(*text)) : std::string();
}

Error refused_list(int status, const std::string& body, const std::string& ns,
                   const std::string& service_account) {
  const auto message = message_of(body);
  if (status == 403) return forbidden(message, ns);
  if (status == 401) {
    return {.code = ErrorCode::Unauthorized,
            .message = fmt::format("401: the API does not accept the token in {}/token; it has "
                                   "expired, or its pod or service account is gone",
                                   service_account)};
  }
  return {.code = may_pass(status) ? ErrorCode::Unavailable : ErrorCode::BadRequest,
          .message = fmt::format("listing the pods of namespace {}: {} {}{}{}", ns, status,
                                 net::reason_phrase(status), message.empty() ? "" : ": ", message)};
}

Result<std::unique_ptr<KubernetesApi>> KubernetesApi::create(rt::RealLoop& loop, rt::Pool& pool,
                                                             const Environment& environment,
                                                             KubernetesApiOptions options) {
  const auto host = environment.get("KUBERNETES_SERVICE_HOST");
  auto port_text = environment.get("KUBERNETES_SERVICE_PORT_HTTPS");
  if (port_text.empty()) port_text = environment.get("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port_text.empty()) {
    return fail(
        ErrorCode::NotFound,
        fmt::format("{} is not set, so the cluster's API cannot be found; every pod of a "
                    "cluster has it",
                    host.empty() ? "KUBERNETES_SERVICE_HOST" : "KUBERNETES_SERVICE_PORT_HTTPS"));
  }
  const auto port = parse_int(port_text);
  if (!port || *port < 1 || *port > 65535) {
    return fail(ErrorCode::Invalid,
                fmt::format("KUBERNETES_SERVICE_PORT_HTTPS is \"{}\", not a port", port_text));
  }
  const auto ca = read_file(options.service_account + "/ca.crt");
  if (!ca) {
    return fail(
        ca.error().in("the cluster's CA, without which its API cannot be trusted (is "
                      "automountServiceAccountToken false?)"));
  }
  auto tls = net::TlsContext::client({.ca_pem = *ca, .protocols = {"http/1.1"}});
  if (!tls) return fail(tls.error().in(options.service_account + "/ca.crt"));
  auto connector = net::tcp_connector(
      loop, pool,
      {.host = host, .port = static_cast<std::uint16_t>(*port), .tls = std::move(*tls)});
  return std::unique_ptr<KubernetesApi>(
      new KubernetesApi(loop, std::move(connector), std::move(options)));
}

Task<Result<net::HttpResponse>> KubernetesApi::get(std::string target) {
  net::HttpRequest request{.target = std::move(target),
                           .headers = {{"Accept", "application/json"}}};
  if (const auto token = read_file(options_.service_account + "/token"))
    request.headers.add("Authorization", "Bearer " + std::string(trim(*token)));
  co_return co_await rt::with_timeout(loop_, kAnswerLimit, client_.send(std::move(request)));
}

Task<Result<net::HttpResponse>> KubernetesApi::get_patiently(std::string target) {
  const auto give_up = loop_.monotonic() + options_.patience;
  for (bool said = false;; said = true) {
    auto answer = co_await get(target);
    const bool passing = answer ? may_pass(answer->status)
                                : answer.error().code == ErrorCode::Unavailable ||
                                      answer.error().code == ErrorCode::Timeout;
    if (!passing) co_return answer;
    if (loop_.monotonic() >= give_up) {
      if (answer) co_return answer;
      co_return fail(answer.error().in("the cluster's API cannot be reached"));
    }
    if (!said) {
      say(fmt::format("the cluster's API does not answer yet ({}); asking again",
                      answer ? std::to_string(answer->status) : answer.error().message));
    }
    CO_TRY(co_await rt::sleep_for(loop_, kRetryPause));
  }
}

Task<Result<json::Value>> KubernetesApi::list_pods(std::string ns, std::string label_selector) {
  const auto answer = CO_TRY(
      co_await get_patiently(fmt::format("/api/v1/namespaces/{}/pods?labelSelector={}",
                                         percent_encode(ns), percent_encode(label_selector))));
  if (answer.status != 200) {
    co_return fail(refused_list(answer.status, answer.body, ns, options_.service_account));
  }
  auto list = json::read(answer.body, json::kAnswerLimits);
  if (!list) co_return fail(list.error().in("the API's list of pods"));
  co_return std::move(*list);
}

}  // namespace muster::agent
