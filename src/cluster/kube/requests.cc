#include "cluster/kube/requests.h"

#include <string_view>

#include <fmt/format.h>

#include "base/strings.h"
#include "base/time.h"
#include "json/write.h"

namespace muster::cluster::kube {
namespace {

using json::Value;

// A path with its query; values are encoded, empty ones left out.
class TargetWriter {
 public:
  explicit TargetWriter(std::string path) : text_(std::move(path)) {}

  TargetWriter& add(std::string_view name, std::string_view value) {
    if (value.empty()) return *this;
    text_ += separator_;
    text_ += name;
    text_ += '=';
    text_ += percent_encode(value);
    separator_ = '&';
    return *this;
  }
  TargetWriter& add_if(bool wanted, std::string_view name) {
    return wanted ? add(name, "true") : *this;
  }
  TargetWriter& select(const Selection& where) {
    return add("labelSelector", where.labels).add("fieldSelector", where.fields);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  char separator_ = '?';
};

std::string_view to_string(Propagation propagation) {
  switch (propagation) {
    case Propagation::Background:
      return "Background";
    case Propagation::Foreground:
      return "Foreground";
    case Propagation::Orphan:
      return "Orphan";
  }
  return "Background";
}

}  // namespace

std::string collection_path(const Resource& resource, const std::string& ns) {
  std::string path = resource.group.empty()
                         ? fmt::format("/api/{}", resource.version)
                         : fmt::format("/apis/{}/{}", resource.group, resource.version);
  if (resource.namespaced() && !ns.empty())
    path += fmt::format("/namespaces/{}", percent_encode(ns));
  path += '/';
  path += resource.plural;
  return path;
}

std::string object_path(const Resource& resource, const ObjectKey& key) {
  return fmt::format("{}/{}", collection_path(resource, key.ns), percent_encode(key.name));
}

std::string list_target(const Resource& resource, const ListOptions& options) {
  TargetWriter target(collection_path(resource, options.where.ns));
  target.select(options.where);
  if (options.limit > 0) target.add("limit", std::to_string(options.limit));
  return target.add("continue", options.continue_token)
      .add("resourceVersion", options.resource_version)
      .add("resourceVersionMatch", options.resource_version_match)
      .take();
}

std::string watch_target(const Resource& resource, const WatchOptions& options,
                         int timeout_seconds) {
  return TargetWriter(collection_path(resource, options.where.ns))
      .add("watch", "true")
      .add_if(options.bookmarks, "allowWatchBookmarks")
      .add_if(options.initial_events, "sendInitialEvents")
      .add("resourceVersionMatch", options.initial_events ? "NotOlderThan" : "")
      .select(options.where)
      .add("resourceVersion", options.resource_version)
      .add("timeoutSeconds", std::to_string(timeout_seconds))
      .take();
}

std::string log_target(const ObjectKey& pod, const LogOptions& options) {
  TargetWriter target(object_path(api::pods(), pod) + "/log");
  target.add("container", options.container)
      .add_if(options.follow, "follow")
      .add_if(options.previous, "previous")
      .add_if(options.timestamps, "timestamps");
  if (options.tail_lines) target.add("tailLines", std::to_string(*options.tail_lines));
  if (options.limit_bytes) target.add("limitBytes", std::to_string(*options.limit_bytes));
  if (options.since_seconds) target.add("sinceSeconds", std::to_string(*options.since_seconds));
  if (options.since_time) target.add("sinceTime", format_time(*options.since_time));
  return target.take();
}

std::string delete_body(const DeleteOptions& options) {
  Value body = json::Object{{"kind", "DeleteOptions"}, {"apiVersion", "v1"}};
  body["propagationPolicy"] = to_string(options.propagation);
  if (options.grace_seconds) body["gracePeriodSeconds"] = *options.grace_seconds;
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty())
    body["preconditions"]["resourceVersion"] = options.resource_version;
  return json::write(body);
}

std::string binding_body(const ObjectKey& pod, const std::string& pod_uid,
                         const std::string& node) {
  Value body = json::Object{{"kind", "Binding"}, {"apiVersion", "v1"}};
  body["metadata"]["name"] = pod.name;
  body["metadata"]["namespace"] = pod.ns;
  // The server compares it with the pod's, so that a binding never reaches a successor of the same
  // name.
  if (!pod_uid.empty()) body["metadata"]["uid"] = pod_uid;
  body["target"] = json::Object{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}};
  return json::write(body);
}

std::string token_body(const TokenRequest& request) {
  Value body = json::Object{{"kind", "TokenRequest"}, {"apiVersion", "authentication.k8s.io/v1"}};
  Value& spec = body["spec"];
  spec["audiences"] = json::Array();
  for (const auto& audience : request.audiences) spec["audiences"].array().emplace_back(audience);
  spec["expirationSeconds"] = request.expiration_seconds;
  if (!request.pod_name.empty()) {
    spec["boundObjectRef"] = json::Object{{"apiVersion", "v1"},
                                          {"kind", "Pod"},
                                          {"name", request.pod_name},
                                          {"uid", request.pod_uid}};
  }
  return json::write(body);
}

}  // namespace muster::cluster::kube
