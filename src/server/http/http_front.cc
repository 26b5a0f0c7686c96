#include "server/http/http_front.h"

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "json/write.h"
#include "server/http/answer.h"
#include "server/http/discovery.h"
#include "server/http/exec.h"
#include "server/http/options.h"
#include "server/http/patch.h"
#include "server/http/watch.h"

namespace muster::server {
namespace {

constexpr std::string_view kImpersonate = "Impersonate-";

Error method_not_allowed() {
  return {.code = ErrorCode::MethodNotAllowed,
          .message = "the server does not allow this method on the requested resource",
          .causes = {},
          .retry_after = std::nullopt};
}

Error no_such_resource() {
  return {.code = ErrorCode::NotFound,
          .message = "the server could not find the requested resource",
          .causes = {},
          .retry_after = std::nullopt};
}

json::Value success(int code) {
  return json::Object{{"kind", "Status"},
                      {"apiVersion", "v1"},
                      {"metadata", json::Object()},
                      {"status", "Success"},
                      {"code", code}};
}

}  // namespace

Task<void> HttpFront::handle(const net::HttpRequest& http, net::Responder& responder) {
  auto path = RequestPath::parse(http.target);
  Result<void> sent;
  if (!path) {
    sent = co_await send(error_response(path.error(), nullptr), responder);
  } else {
    sent = co_await serve(http, std::move(*path), responder);
  }
  // An error here means that the peer is gone: nobody is left to tell.
}

std::optional<net::HttpResponse> HttpFront::refuse(const net::HttpRequest& http,
                                                   const RequestPath& path,
                                                   std::string& client) const {
  if (gate_ == nullptr) return std::nullopt;
  const auto user = gate_->authenticate(http.headers);
  if (!user) return error_response(user.error(), nullptr);
  client = user->name;
  // Done as somebody else than was asked for would be worse than not done.
  for (const auto& header : http.headers) {
    if (header.name.size() < kImpersonate.size() ||
        !equal_ignoring_case(std::string_view(header.name).substr(0, kImpersonate.size()),
                             kImpersonate))
      continue;
    return error_response({.code = ErrorCode::Forbidden,
                           .message = "this server does not let anybody act as somebody else",
                           .causes = {},
                           .retry_after = std::nullopt},
                          nullptr);
  }
  const auto allowed = gate_->authorize(*user, action_of(http.method, path));
  if (allowed) return std::nullopt;
  ApiRequest about;
  about.kind = core_.kinds().find(path.group, path.version, path.plural);
  about.key = {.ns = path.ns, .name = path.name};
  return error_response(allowed.error(), &about);
}

Task<Result<void>> HttpFront::serve(const net::HttpRequest& http, RequestPath path,
                                    net::Responder& responder) {
  std::string client = responder.peer().client;
  if (auto refused = refuse(http, path, client)) {
    co_return co_await send(std::move(*refused), responder);
  }
  if (path.is_resource && path.group == kMetricsGroup && http.method == "GET") {
    auto metrics = co_await serve_pod_metrics(core_, metrics_, path);
    auto response = metrics ? std::move(*metrics) : error_response(metrics.error(), nullptr);
    co_return co_await send(std::move(response), responder);
  }
  auto read = read_request(core_.kinds(), http, path);
  if (!read) co_return co_await send(error_response(read.error(), nullptr), responder);
  if (!*read) {
    auto response = http.method == "GET" || http.method == "HEAD"
                        ? fixed(path)
                        : text_response(404, "404 page not found\n");
    co_return co_await send(std::move(response), responder);
  }
  ApiRequest request = std::move(**read);
  const bool get_request = http.method == "GET";
  const bool plain = request.path.subresource.empty();
  if (get_request && plain && request.watching()) {
    const auto watched = co_await serve_watch(core_, rng_, client, request, responder);
    if (watched) co_return watched;
    co_return co_await send(error_response(watched.error(), &request), responder);
  }
  if (get_request && request.kind->is(api::pods()) && request.path.subresource == "log") {
    co_return co_await log(request, responder);
  }
  const bool may_exec = get_request || http.method == "POST";
  if (may_exec && request.kind->is(api::pods()) && request.path.subresource == "exec") {
    const auto served = co_await serve_exec(core_, rng_, request, responder);
    if (served) co_return served;
    co_return co_await send(error_response(served.error(), &request), responder);
  }
  auto answered = co_await answer(request);
  net::HttpResponse response =
      answered ? std::move(*answered) : error_response(answered.error(), &request);
  co_return co_await send(std::move(response), responder);
}

Task<Result<void>> HttpFront::send(net::HttpResponse response, net::Responder& responder) {
  response.headers.set("Cache-Control", "no-cache, private");
  response.headers.set("Audit-Id", make_uuid(rng_));
  return responder.respond(std::move(response));
}

net::HttpResponse HttpFront::fixed(const RequestPath& path) const {
  if (path.text == "/healthz" || path.text == "/livez" || path.text == "/readyz") {
    if (const auto& failed = core_.failure()) return text_response(500, failed->message + "\n");
    return text_response(200, "ok");
  }
  if (const auto found = discovery(core_.kinds(), path.text)) {
    net::HttpResponse response = json_response(200, *found);
    response.headers.set("Vary", "Accept");
    return response;
  }
  return text_response(404, "404 page not found\n");
}

HttpFront::Answer HttpFront::answer(ApiRequest& request) {
  const std::string& method = request.http->method;
  const std::string& part = request.path.subresource;
  if (part.empty() && request.collection()) {
    if (method == "GET") return list(request);
    if (method == "POST") return create(request);
    if (method == "DELETE") return remove_collection(request);
  } else if (part.empty()) {
    if (method == "GET") return get(request);
    if (method == "PUT") return update(request, Core::Part::Main);
    if (method == "PATCH") return patch(request, Core::Part::Main);
    if (method == "DELETE") return remove(request);
  } else if (part == "status" && request.kind->has_status) {
    if (method == "GET") return get(request);
    if (method == "PUT") return update(request, Core::Part::Status);
    if (method == "PATCH") return patch(request, Core::Part::Status);
  } else if (part == "binding" && request.kind->is(api::pods())) {
    if (method == "POST") return bind(request);
  } else if (part == "token" && request.kind->is(api::service_accounts())) {
    if (method == "POST") return create_token(request);
  } else if ((part != "log" && part != "exec") || !request.kind->is(api::pods())) {
    return [](Error error) -> Answer { co_return fail(std::move(error)); }(no_such_resource());
  }
  return [](Error error) -> Answer { co_return fail(std::move(error)); }(method_not_allowed());
}

HttpFront::Answer HttpFront::list(const ApiRequest& request) {
  ListOptions options = CO_TRY(read_list_options(request));
  const ListPage page = CO_TRY(co_await core_.list(*request.kind, std::move(options)));
  co_return net::HttpResponse{.status = 200,
                              .headers = {{"Content-Type", "application/json"}},
                              .body = show_list(request, page, core_.loop().now())};
}

HttpFront::Answer HttpFront::get(const ApiRequest& request) {
  const ObjectPtr object = CO_TRY(core_.get(*request.kind, request.key));
  co_return object_response(200, request, *object, core_.loop().now());
}

HttpFront::Answer HttpFront::create(const ApiRequest& request) {
  if (request.kind->resource.namespaced() && !request.path.in_namespace) {
    co_return fail(method_not_allowed());
  }
  json::Value object = CO_TRY(read_object(request));
  const ObjectPtr made =
      CO_TRY(co_await core_.create(*request.kind, std::move(object), request.mode));
  co_return object_response(201, request, *made, core_.loop().now());
}

HttpFront::Answer HttpFront::update(const ApiRequest& request, Core::Part part) {
  json::Value object = CO_TRY(read_object(request));
  auto pending = part == Core::Part::Main
                     ? core_.update(*request.kind, std::move(object), request.mode)
                     : core_.update_status(*request.kind, std::move(object), request.mode);
  const ObjectPtr made = CO_TRY(co_await std::move(pending));
  co_return object_response(200, request, *made, core_.loop().now());
}

HttpFront::Answer HttpFront::patch(const ApiRequest& request, Core::Part part) {
  const std::string_view header = request.http->headers.get("Content-Type").value_or("");
  const std::string_view type = header.substr(0, header.find(';'));
  const bool merge = type == "application/merge-patch+json";
  if (!merge && type != "application/json-patch+json") {
    co_return fail(
        ErrorCode::UnsupportedMediaType,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json");
  }
  const json::Value change = CO_TRY(read_body(request));
  Core::Edit edit = [&change, merge, &request](const json::Value& old) -> Result<json::Value> {
    json::Value object = old;
    if (merge) {
      merge_patch(object, change);
    } else {
      TRY(json_patch(object, change));
    }
    if (!object.is_object() || !(api::key_of(object) == request.key)) {
      return fail(ErrorCode::BadRequest, "a patch may not change the name of the object");
    }
    return object;
  };
  const ObjectPtr made =
      CO_TRY(co_await core_.edit(*request.kind, request.key, part, std::move(edit), request.mode));
  co_return object_response(200, request, *made, core_.loop().now());
}

HttpFront::Answer HttpFront::remove(ApiRequest& request) {
  DeleteOptions options = CO_TRY(read_delete_options(request));
  const ObjectPtr gone =
      CO_TRY(co_await core_.remove(*request.kind, request.key, std::move(options), request.mode));
  const auto left = core_.get(*request.kind, request.key);
  const bool lives = left && api::uid_of(**left) == api::uid_of(*gone);
  if (lives || request.kind->answers_object) {
    co_return object_response(200, request, *gone, core_.loop().now());
  }
  json::Value status = success(200);
  status["details"] = json::Object{{"name", request.key.name},
                                   {"group", request.kind->resource.group},
                                   {"kind", request.kind->resource.plural},
                                   {"uid", api::uid_of(*gone)}};
  co_return json_response(200, status);
}

HttpFront::Answer HttpFront::remove_collection(ApiRequest& request) {
  if (request.kind->resource.namespaced() && !request.path.in_namespace) {
    co_return fail(method_not_allowed());
  }
  const DeleteOptions wanted = CO_TRY(read_delete_options(request));
  ListOptions options = CO_TRY(read_list_options(request));
  ListPage page = CO_TRY(co_await core_.list(*request.kind, std::move(options)));
  for (ObjectPtr& item : page.items) {
    DeleteOptions each = wanted;
    if (each.uid.empty()) each.uid = api::uid_of(*item);
    auto gone =
        co_await core_.remove(*request.kind, api::key_of(*item), std::move(each), request.mode);
    if (gone) {
      item = std::move(*gone);
    } else if (gone.error().code != ErrorCode::NotFound &&
               gone.error().code != ErrorCode::Conflict) {
      co_return fail(gone.error());
    }
  }
  co_return net::HttpResponse{.status = 200,
                              .headers = {{"Content-Type", "application/json"}},
                              .body = show_list(request, page, core_.loop().now())};
}

HttpFront::Answer HttpFront::bind(const ApiRequest& request) {
  const json::Value body = CO_TRY(read_body(request));
  if (request.mode == Mode::DryRun)
    co_return fail(ErrorCode::BadRequest, "dryRun is not supported here");
  CO_TRY(co_await core_.bind(request.key, api::uid_of(body), body["target"]["name"].as_string()));
  co_return json_response(201, success(201));
}

HttpFront::Answer HttpFront::create_token(const ApiRequest& request) {
  json::Value body = CO_TRY(read_body(request));
  if (!body.is_object()) co_return fail(ErrorCode::BadRequest, "the body must be a TokenRequest");
  const json::Value& spec = body.at_path("spec");
  TokenRequest wanted;
  for (const json::Value& audience : spec["audiences"].as_array()) {
    wanted.audiences.push_back(audience.as_string());
  }
  wanted.expiration_seconds = spec["expirationSeconds"].as_int(3600);
  wanted.pod_name = spec["boundObjectRef"]["name"].as_string();
  wanted.pod_uid = spec["boundObjectRef"]["uid"].as_string();
  Token token = CO_TRY(co_await core_.create_token(request.key, std::move(wanted)));
  body["kind"] = "TokenRequest";
  body["apiVersion"] = "authentication.k8s.io/v1";
  body["status"] = json::Object{{"token", std::move(token.value)},
                                {"expirationTimestamp", std::move(token.expires)}};
  co_return json_response(201, body);
}

Task<Result<void>> HttpFront::log(const ApiRequest& request, net::Responder& responder) {
  auto options = read_log_options(request);
  if (!options) co_return co_await send(error_response(options.error(), &request), responder);
  auto opened = co_await core_.log(request.key, std::move(*options));
  if (!opened) co_return co_await send(error_response(opened.error(), &request), responder);
  CO_TRY(co_await responder.begin(
      200, {{"Content-Type", "text/plain"}, {"Cache-Control", "no-cache, private"}}));
  while (true) {
    const auto chunk = co_await (*opened)->next();
    if (!chunk || !*chunk) break;
    CO_TRY(co_await responder.write_chunk(**chunk));
  }
  co_return co_await responder.finish();
}

}  // namespace muster::server
