#include "cli/tables/layout.h"

#include <fmt/format.h>

#include "api/object.h"
#include "cli/tables/job_rows.h"
#include "cli/tables/node_rows.h"
#include "cli/tables/pod_rows.h"

namespace muster::cli {
namespace {

Cells event_row(const Item& item, const Surroundings& around) {
  const json::Value& event = *item.object;
  const auto last = api::time_at(event["lastTimestamp"]);
  return {last ? format_age(around.now - *last) : "<unknown>", event["type"].as_string(),
          event["reason"].as_string(),
          fmt::format("{}/{}", event["involvedObject"]["kind"].as_string(),
                      event["involvedObject"]["name"].as_string()),
          event["message"].as_string()};
}

Cells service_row(const Item& item, const Surroundings& around) {
  const json::Value& service = *item.object;
  return {api::name_of(service), service["spec"]["type"].as_string(),
          service["spec"]["clusterIP"].as_string(), age_of(service, around.now)};
}

Cells claim_row(const Item& item, const Surroundings& around) {
  const json::Value& claim = *item.object;
  return {api::name_of(claim),
          api::is_deleting(claim) ? "Terminating" : claim["status"]["phase"].as_string(),
          claim["spec"]["volumeName"].as_string(),
          claim["status"]["capacity"]["storage"].as_string(),
          claim["spec"]["storageClassName"].as_string(),
          age_of(claim, around.now)};
}

Cells volume_row(const Item& item, const Surroundings& around) {
  const json::Value& volume = *item.object;
  const json::Value& spec = volume["spec"];
  const json::Value& claim = spec["claimRef"];
  return {api::name_of(volume),
          spec["capacity"]["storage"].as_string(),
          spec["persistentVolumeReclaimPolicy"].as_string(),
          volume["status"]["phase"].as_string(),
          claim.is_object() ? claim["namespace"].as_string() + "/" + claim["name"].as_string() : "",
          spec["storageClassName"].as_string(),
          age_of(volume, around.now)};
}

Cells other_row(const Item& item, const Surroundings& around) {
  const json::Value& object = *item.object;
  return {api::name_of(object), age_of(object, around.now)};
}

}  // namespace

std::string age_of(const json::Value& object, Time now) {
  const auto created = api::creation_time_of(object);
  return created ? format_age(now - *created) : "<unknown>";
}

Layout layout_of(const NamedResource& of, const Objects& objects, Width width) {
  if (of.dialect != nullptr) return job_layout(width);
  if (of.resource == api::pods()) return pod_layout(width);
  if (of.resource == api::nodes()) return node_layout(objects, width);
  if (of.resource == api::events()) {
    return {.header = {"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}, .row = event_row};
  }
  if (of.resource == api::services()) {
    return {.header = {"NAME", "TYPE", "CLUSTER-IP", "AGE"}, .row = service_row, .age = 3};
  }
  if (of.resource == api::persistent_volume_claims()) {
    return {.header = {"NAME", "STATUS", "VOLUME", "CAPACITY", "STORAGECLASS", "AGE"},
            .row = claim_row,
            .state = 1,
            .age = 5};
  }
  if (of.resource == api::persistent_volumes()) {
    return {
        .header = {"NAME", "CAPACITY", "RECLAIM POLICY", "STATUS", "CLAIM", "STORAGECLASS", "AGE"},
        .row = volume_row,
        .state = 3,
        .age = 6};
  }
  return {.header = {"NAME", "AGE"}, .row = other_row, .age = 1};
}

}  // namespace muster::cli
