#include "node/access/node_gate.h"

#include <fmt/format.h>

#include "api/status.h"
#include "base/strings.h"

namespace muster::node {

namespace {

const api::Resource& token_reviews() {
  static const api::Resource resource{.group = "authentication.k8s.io",
                                      .version = "v1",
                                      .plural = "tokenreviews",
                                      .kind = "TokenReview",
                                      .scope = api::Scope::Cluster};
  return resource;
}

const api::Resource& access_reviews() {
  static const api::Resource resource{.group = "authorization.k8s.io",
                                      .version = "v1",
                                      .plural = "subjectaccessreviews",
                                      .kind = "SubjectAccessReview",
                                      .scope = api::Scope::Cluster};
  return resource;
}

json::Value review(const api::Resource& resource, json::Value spec) {
  return json::Object{{"apiVersion", resource.api_version()},
                      {"kind", resource.kind},
                      {"metadata", json::Object{}},
                      {"spec", std::move(spec)}};
}

json::Array strings(const std::vector<std::string>& texts) {
  json::Array list;
  for (const auto& text : texts) list.emplace_back(text);
  return list;
}

std::string_view bearer_token(const net::Headers& headers) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view header = trim(headers.get("Authorization").value_or(""));
  if (header.size() <= kScheme.size() ||
      !equal_ignoring_case(header.substr(0, kScheme.size()), kScheme))
    return {};
  return trim(header.substr(kScheme.size()));
}

std::string verb_of(const std::string& method) {
  if (method == "POST") return "create";
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return to_lower(method);
}

}  // namespace

NodeAction node_action(const net::HttpRequest& request) {
  const std::string_view path =
      std::string_view(request.target).substr(0, request.target.find('?'));
  return {.verb = verb_of(request.method), .subresource = path == "/metrics" ? "metrics" : "proxy"};
}

Task<void> NodeGate::handle(const net::HttpRequest& request, net::Responder& responder) {
  const auto admitted = co_await admit(request, responder.peer());
  if (admitted) {
    co_await inner_.handle(request, responder);
    co_return;
  }
  net::HttpResponse answer{.status = api::http_code(admitted.error().code),
                           .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                           .body = admitted.error().message + "\n"};
  [[maybe_unused]] const auto sent = co_await responder.respond(std::move(answer));
}

Task<Result<void>> NodeGate::admit(const net::HttpRequest& request, net::Peer peer) {
  const NodeAction action = node_action(request);
  Caller caller = CO_TRY(co_await authenticate(request, std::move(peer)));
  co_return co_await authorize(std::move(caller), action);
}

Task<Result<Caller>> NodeGate::authenticate(const net::HttpRequest& request, net::Peer peer) {
  if (!peer.common_name.empty()) {
    Caller caller{.name = peer.common_name, .groups = std::move(peer.organizations)};
    caller.groups.emplace_back("system:authenticated");
    co_return caller;
  }
  const std::string_view token = bearer_token(request.headers);
  if (token.empty()) co_return fail(ErrorCode::Unauthorized, "Unauthorized");
  const auto answer = co_await cluster_.create(
      token_reviews(), review(token_reviews(), json::Object{{"token", std::string(token)}}));
  if (!answer) {
    log_.warning("a token could not be reviewed: {}", answer.error().message);
    co_return fail(ErrorCode::Unauthorized, "Unauthorized");
  }
  const auto& status = (**answer)["status"];
  const auto& user = status["user"];
  if (!status["authenticated"].as_bool() || user["username"].as_string().empty())
    co_return fail(ErrorCode::Unauthorized, "Unauthorized");
  Caller caller{
      .name = user["username"].as_string(), .uid = user["uid"].as_string(), .extra = user["extra"]};
  for (const auto& group : user["groups"].as_array()) caller.groups.push_back(group.as_string());
  co_return caller;
}

Task<Result<void>> NodeGate::authorize(Caller caller, NodeAction action) {
  json::Value spec =
      json::Object{{"user", caller.name},
                   {"groups", strings(caller.groups)},
                   {"resourceAttributes", json::Object{{"verb", action.verb},
                                                       {"version", "v1"},
                                                       {"resource", "nodes"},
                                                       {"subresource", action.subresource},
                                                       {"name", node_}}}};
  if (!caller.uid.empty()) spec["uid"] = caller.uid;
  if (caller.extra.is_object()) spec["extra"] = caller.extra;
  const auto answer =
      co_await cluster_.create(access_reviews(), review(access_reviews(), std::move(spec)));
  if (!answer) {
    log_.warning("the rights of {} could not be reviewed: {}", printable(caller.name),
                 answer.error().message);
    co_return fail(ErrorCode::Internal, "Authorization error: the rights could not be reviewed");
  }
  if ((**answer)["status"]["allowed"].as_bool()) co_return Result<void>{};
  co_return fail(ErrorCode::Forbidden,
                 fmt::format("Forbidden (user={}, verb={}, resource=nodes, subresource(s)=[{}])",
                             printable(caller.name), action.verb, action.subresource));
}

}  // namespace muster::node
