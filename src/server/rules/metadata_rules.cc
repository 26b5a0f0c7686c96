#include "server/rules/metadata_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/names.h"
#include "api/object.h"
#include "base/limits.h"

namespace muster::server {
namespace {

void check_name(const Kind& kind, const std::string& name, Causes& causes) {
  if (name.empty()) {
    causes.required("metadata.name", "name or generateName is required");
    return;
  }
  const bool label = kind.is(api::namespaces());
  const auto why = label                      ? api::check_dns_label(name)
                   : kind.is(api::services()) ? api::check_service_name(name)
                                              : api::check_dns_subdomain(name);
  if (why) causes.invalid("metadata.name", name, *why);
}

void check_labels(const json::Value& labels, Causes& causes) {
  if (labels.is_null()) return;
  if (!labels.is_object()) {
    causes.invalid("metadata.labels", labels, "must be a map of strings");
    return;
  }
  for (const auto& [key, value] : labels.as_object()) {
    if (const auto why = api::check_label_key(key)) causes.invalid("metadata.labels", key, *why);
    if (!value.is_string()) {
      causes.invalid(fmt::format("metadata.labels[{}]", key), value, "must be a string");
    } else if (const auto bad = api::check_label_value(value.as_string())) {
      causes.invalid("metadata.labels", value, *bad);
    }
  }
}

void check_annotations(const json::Value& annotations, Causes& causes) {
  if (annotations.is_null()) return;
  if (!annotations.is_object()) {
    causes.invalid("metadata.annotations", annotations, "must be a map of strings");
    return;
  }
  std::size_t total = 0;
  for (const auto& [key, value] : annotations.as_object()) {
    if (const auto why = api::check_label_key(key))
      causes.invalid("metadata.annotations", key, *why);
    if (!value.is_string()) {
      causes.invalid(fmt::format("metadata.annotations[{}]", key), value, "must be a string");
    }
    total += key.size() + value.as_string().size();
  }
  if (total > limits::kMaxAnnotationBytes) {
    causes.add({.field = "metadata.annotations",
                .reason = "FieldValueTooLong",
                .message = fmt::format("Too long: may not be more than {} bytes",
                                       limits::kMaxAnnotationBytes)});
  }
}

void check_owners(const json::Value& owners, Causes& causes) {
  bool controller = false;
  for (std::size_t i = 0; i < owners.as_array().size(); ++i) {
    const json::Value& owner = owners[i];
    const std::string at = fmt::format("metadata.ownerReferences[{}]", i);
    for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
      if (owner[field].as_string().empty()) {
        causes.invalid(fmt::format("{}.{}", at, field), owner[field], "must not be empty");
      }
    }
    if (!owner["controller"].as_bool()) continue;
    if (controller) {
      causes.invalid("metadata.ownerReferences", owner["name"],
                     "only one reference can have controller set to true");
    }
    controller = true;
  }
}

}  // namespace

void check_metadata(const Kind& kind, const json::Value& object, Causes& causes) {
  const json::Value& metadata = object["metadata"];
  check_name(kind, api::name_of(object), causes);
  check_labels(metadata["labels"], causes);
  check_annotations(metadata["annotations"], causes);
  check_owners(metadata["ownerReferences"], causes);
  for (const json::Value& finalizer : metadata["finalizers"].as_array()) {
    if (finalizer.as_string().empty()) {
      causes.invalid("metadata.finalizers", finalizer, "must be a non-empty string");
    } else if (const auto why = api::check_label_key(finalizer.as_string())) {
      causes.invalid("metadata.finalizers", finalizer, *why);
    }
  }
}

void check_metadata_update(const json::Value& old, const json::Value& object, Causes& causes) {
  if (!api::is_deleting(old)) return;
  const json::Array& before = old["metadata"]["finalizers"].as_array();
  for (const json::Value& finalizer : object["metadata"]["finalizers"].as_array()) {
    if (std::ranges::find(before, finalizer) != before.end()) continue;
    causes.forbidden("metadata.finalizers",
                     fmt::format("no new finalizers can be added if the object is being deleted, "
                                 "found new finalizer \"{}\"",
                                 finalizer.as_string()));
  }
}

std::size_t json_size(const json::Value& value) {
  if (value.is_string()) return value.as_string().size() + 2;
  if (value.is_array()) {
    std::size_t size = 2;
    for (const json::Value& item : value.as_array()) size += json_size(item) + 1;
    return size;
  }
  if (value.is_object()) {
    std::size_t size = 2;
    for (const auto& [key, member] : value.as_object()) size += key.size() + 4 + json_size(member);
    return size;
  }
  return 5;
}

bool is_deeper_than(const json::Value& value, int levels) {
  if (!value.is_array() && !value.is_object()) return false;
  if (levels <= 0) return true;
  const auto deeper = [levels](const json::Value& item) {
    return is_deeper_than(item, levels - 1);
  };
  if (value.is_array()) return std::ranges::any_of(value.as_array(), deeper);
  return std::ranges::any_of(value.as_object(),
                             [&](const auto& member) { return deeper(member.second); });
}

}  // namespace muster::server
