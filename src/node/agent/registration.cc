#include "node/agent/registration.h"

#include <sys/utsname.h>

#include <fmt/format.h>

#include "api/object.h"
#include "node/agent/declared.h"
#include "node/agent/gpus.h"
#include "node/agent/pod_range.h"
#include "node/disk/limits.h"

namespace muster::node {

namespace {

constexpr Duration kLeasePeriod = std::chrono::seconds(10);
constexpr Duration kStatusPeriod = std::chrono::minutes(5);
constexpr Duration kRetry = std::chrono::seconds(1);
constexpr int kLeaseSeconds = 40;
constexpr int kConflictTries = 5;

const char* architecture() {
#if defined(__aarch64__)
  return "arm64";
#else
  return "amd64";
#endif
}

json::Value resources_of(const NodeOptions& options) {
  json::Value out = json::Object{
      {"cpu", options.cpu_milli % 1000 == 0 ? fmt::format("{}", options.cpu_milli / 1000)
                                            : fmt::format("{}m", options.cpu_milli)},
      {"memory", fmt::format("{}", options.memory_bytes)},
      {"pods", fmt::format("{}", options.pods)}};
  if (!options.gpu_uuids.empty()) {
    out[kGpuResource] = fmt::format("{}", options.gpu_uuids.size());
  }
  for (const auto& [name, amount] : options.declared) out[name] = fmt::format("{}", amount);
  return out;
}

json::Value node_info(const NodeOptions& options) {
  struct utsname machine{};
  ::uname(&machine);
  return json::Object{{"architecture", architecture()},
                      {"bootID", ""},
                      {"containerRuntimeVersion", "muster://" + options.version},
                      {"kernelVersion", std::string(machine.release)},
                      {"kubeProxyVersion", ""},
                      {"kubeletVersion", options.version},
                      {"machineID", ""},
                      {"operatingSystem", "linux"},
                      {"osImage", "host"},
                      {"systemUUID", ""}};
}

json::Value condition(const json::Value& before, const char* type, bool value, const char* reason,
                      const std::string& message, const std::string& now) {
  const std::string status = value ? "True" : "False";
  json::Value out = json::Object{{"type", type},
                                 {"status", status},
                                 {"lastHeartbeatTime", now},
                                 {"lastTransitionTime", now},
                                 {"reason", reason},
                                 {"message", message}};
  for (const auto& old : before["conditions"].as_array()) {
    if (old["type"].as_string() == type && old["status"].as_string() == status) {
      out["lastTransitionTime"] = old["lastTransitionTime"];
    }
  }
  return out;
}

// Says what is declared; what an earlier life of the node declared goes.
void annotate_declared(json::Value& node, const NodeOptions& options) {
  const auto declared = declared_resources(options);
  if (!declared.empty()) {
    node["metadata"]["annotations"][kDeclaredAnnotation] = declared;
  } else if (!api::annotation_of(node, kDeclaredAnnotation).empty()) {
    node["metadata"]["annotations"].object().erase(kDeclaredAnnotation);
  }
}

}  // namespace

json::Value node_object(const NodeOptions& options) {
  json::Object labels{{"kubernetes.io/arch", architecture()},
                      {"kubernetes.io/hostname", options.name},
                      {"kubernetes.io/os", "linux"}};
  for (const auto& [key, value] : options.labels) labels.set(key, value);
  json::Value out = json::Object{
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata", json::Object{{"name", options.name}, {"labels", std::move(labels)}}},
      {"spec", json::Object{}}};
  // As kubelets do it, only on a new Node: it is its administrator's to take away again.
  if (options.taint) {
    json::Object taint{{"key", options.taint->key}, {"effect", options.taint->effect}};
    if (!options.taint->value.empty()) taint.set("value", options.taint->value);
    out["spec"]["taints"] = json::Array{std::move(taint)};
  }
  annotate_declared(out, options);
  return out;
}

json::Value node_status(const NodeOptions& options, const json::Value& before, Time now,
                        bool disk_pressure) {
  json::Value out = before.is_object() ? before : json::Value(json::Object{});
  const auto at = format_time(now);
  out["capacity"] = resources_of(options);
  out["allocatable"] = resources_of(options);
  if (options.disk_bytes > 0) {
    const auto reserve = disk_reserve({.total = options.disk_bytes});
    out["capacity"][kDiskResource] = fmt::format("{}", options.disk_bytes);
    out["allocatable"][kDiskResource] = fmt::format("{}", options.disk_bytes - reserve);
  }
  out["addresses"] = json::Array{json::Object{{"type", "InternalIP"}, {"address", options.host_ip}},
                                 json::Object{{"type", "Hostname"}, {"address", options.name}}};
  if (options.endpoint_port != 0) {
    out["daemonEndpoints"] =
        json::Object{{"kubeletEndpoint", json::Object{{"Port", options.endpoint_port}}}};
    // Without it the API server speaks SPDY to us, which we do not.
    out["declaredFeatures"] = json::Array{"ExtendWebSocketsToKubelet"};
  }
  out["conditions"] = json::Array{
      condition(before, "MemoryPressure", false, "KubeletHasSufficientMemory",
                "the node has sufficient memory available", at),
      disk_pressure ? condition(before, "DiskPressure", true, "KubeletHasDiskPressure",
                                "the disk that pods write to is full", at)
                    : condition(before, "DiskPressure", false, "KubeletHasNoDiskPressure",
                                "the node has no disk pressure", at),
      condition(before, "PIDPressure", false, "KubeletHasSufficientPID",
                "the node has sufficient PID available", at),
      condition(before, "Ready", true, "KubeletReady", "muster is posting ready status", at)};
  if (const auto declared = declared_resources(options); !declared.empty()) {
    out["conditions"].array().push_back(condition(before, kDeclaredCondition, true, kDeclaredReason,
                                                  declared_message(declared), at));
  }
  out["nodeInfo"] = node_info(options);
  return out;
}

Task<Result<api::ObjectPtr>> Registration::ensure_node() {
  for (int tries = 0;; ++tries) {
    auto found = co_await cluster_.get(api::nodes(), {.ns = "", .name = options_.name});
    Result<api::ObjectPtr> answer = found;
    if (!found && found.error().code == ErrorCode::NotFound) {
      answer = co_await cluster_.create(api::nodes(), node_object(options_));
    } else if (found) {
      auto wanted = **found;
      for (const auto& [key, value] : node_object(options_)["metadata"]["labels"].as_object()) {
        wanted["metadata"]["labels"][key] = value;
      }
      annotate_declared(wanted, options_);
      if (wanted == **found) co_return found;
      answer = co_await cluster_.update(api::nodes(), std::move(wanted));
    }
    const bool raced = !answer && (answer.error().code == ErrorCode::Conflict ||
                                   answer.error().code == ErrorCode::AlreadyExists);
    if (!raced || tries >= kConflictTries) co_return answer;
  }
}

Task<Result<void>> Registration::write_status() {
  for (int tries = 0;; ++tries) {
    const auto node = CO_TRY(co_await ensure_node());
    node_uid_ = api::uid_of(*node);
    compare_pod_range(*node);
    auto wanted = *node;
    wanted["status"] = node_status(options_, (*node)["status"], loop_.now(), disk_pressure_);
    auto answer = co_await cluster_.update_status(api::nodes(), std::move(wanted));
    if (answer) co_return Result<void>{};
    if (answer.error().code != ErrorCode::Conflict || tries >= kConflictTries) {
      co_return fail(answer.error());
    }
  }
}

// Pods have their addresses by now.
void Registration::compare_pod_range(const json::Value& node) {
  const auto given = pod_range_of(node);
  if (options_.pod_range.empty() || given.empty() || given == options_.pod_range) return;
  if (std::exchange(told_pod_range_, true)) return;
  log_.warning(
      "the cluster gives this node {} for its pods, which have addresses of {}: others may not "
      "reach them. Restart muster node without --pod-cidr to use it",
      given, options_.pod_range);
}

json::Value Registration::lease_object() const {
  return json::Object{
      {"apiVersion", "coordination.k8s.io/v1"},
      {"kind", "Lease"},
      {"metadata",
       json::Object{{"name", options_.name},
                    {"namespace", "kube-node-lease"},
                    {"ownerReferences", json::Array{json::Object{{"apiVersion", "v1"},
                                                                 {"kind", "Node"},
                                                                 {"name", options_.name},
                                                                 {"uid", node_uid_}}}}}},
      {"spec",
       json::Object{{"holderIdentity", options_.name}, {"leaseDurationSeconds", kLeaseSeconds}}}};
}

Task<Result<void>> Registration::renew_lease() {
  if (!lease_) {
    auto found =
        co_await cluster_.get(api::leases(), {.ns = "kube-node-lease", .name = options_.name});
    if (found) lease_ = *found;
    if (!found && found.error().code != ErrorCode::NotFound) co_return fail(found.error());
  }
  json::Value wanted = lease_ ? *lease_ : lease_object();
  wanted["spec"]["holderIdentity"] = options_.name;
  wanted["spec"]["leaseDurationSeconds"] = kLeaseSeconds;
  wanted["spec"]["renewTime"] = format_micro_time(loop_.now());
  Result<api::ObjectPtr> answer;
  if (lease_) {
    answer = co_await cluster_.update(api::leases(), std::move(wanted));
  } else {
    answer = co_await cluster_.create(api::leases(), std::move(wanted));
  }
  lease_ = answer ? *answer : nullptr;  // read again after a failure
  if (!answer) co_return fail(answer.error());
  co_return Result<void>{};
}

Task<Result<void>> Registration::register_node() {
  CO_TRY(co_await write_status());
  co_return co_await renew_lease();
}

void Registration::start() {
  scope_.spawn(keep_status());
  scope_.spawn(keep_lease());
}

void Registration::set_disk_pressure(bool pressure) {
  disk_pressure_ = pressure;
  news_.set();
}

Task<void> Registration::keep_status() {
  Duration wait = kStatusPeriod;
  while (true) {
    const auto told = co_await rt::with_timeout(loop_, wait, news_.wait());
    if (!told && told.error().code == ErrorCode::Cancelled) co_return;
    news_.reset();
    const auto written = co_await write_status();
    wait = written ? kStatusPeriod : kLeasePeriod;
    if (!written) log_.warning("writing the node's status: {}", written.error().message);
  }
}

Task<void> Registration::keep_lease() {
  Duration wait = kLeasePeriod;
  while (true) {
    const auto slept = co_await rt::sleep_for(loop_, wait);
    if (!slept) co_return;
    const auto renewed = co_await renew_lease();
    wait = renewed ? kLeasePeriod : kRetry;
    if (!renewed) log_.warning("renewing the node's lease: {}", renewed.error().message);
  }
}

}  // namespace muster::node
