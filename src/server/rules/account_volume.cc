#include "server/rules/account_volume.h"

#include <algorithm>
#include <string>

namespace muster::server {
namespace {

// A little more than an hour, as Kubernetes asks for: recognisable, and renewed at four fifths.
constexpr int kTokenSeconds = 3607;

bool has_own_mount(const json::Value& container) {
  return std::ranges::any_of(container["volumeMounts"].as_array(), [](const json::Value& mount) {
    return mount["mountPath"].as_string() == kAccountDirectory;
  });
}

json::Value volume(const std::string& name) {
  json::Array sources;
  sources.push_back(
      json::Object{{"serviceAccountToken",
                    json::Object{{"expirationSeconds", kTokenSeconds}, {"path", "token"}}}});
  sources.push_back(json::Object{
      {"configMap",
       json::Object{{"name", "kube-root-ca.crt"},
                    {"items", json::Array{json::Object{{"key", "ca.crt"}, {"path", "ca.crt"}}}}}}});
  sources.push_back(json::Object{
      {"downwardAPI",
       json::Object{
           {"items", json::Array{json::Object{
                         {"path", "namespace"},
                         {"fieldRef", json::Object{{"apiVersion", "v1"},
                                                   {"fieldPath", "metadata.namespace"}}}}}}}}});
  return json::Object{
      {"name", name},
      {"projected", json::Object{{"defaultMode", 420}, {"sources", std::move(sources)}}}};
}

}  // namespace

bool wants_account_token(const json::Value& pod, const json::Value& account) {
  for (const json::Value* said :
       {&pod["spec"]["automountServiceAccountToken"], &account["automountServiceAccountToken"]}) {
    if (said->is_bool()) return said->as_bool();
  }
  return true;
}

void mount_account_token(json::Value& pod, Rng& rng) {
  const std::string name = "kube-api-access-" + name_suffix(rng, 5);
  bool mounted = false;
  json::Object& spec = pod["spec"].object();
  for (const char* list : {"initContainers", "containers"}) {
    json::Value* containers = spec.find(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (json::Value& container : containers->array()) {
      if (!container.is_object() || has_own_mount(container)) continue;
      json::Value& mounts = container["volumeMounts"];
      if (!mounts.is_null() && !mounts.is_array()) continue;  // refused with the right words later
      mounts.array().push_back(
          json::Object{{"name", name}, {"readOnly", true}, {"mountPath", kAccountDirectory}});
      mounted = true;
    }
  }
  json::Value& volumes = spec["volumes"];
  if (mounted && (volumes.is_null() || volumes.is_array())) volumes.array().push_back(volume(name));
}

}  // namespace muster::server
