#include "contract.h"

namespace muster::contract {

void Contract::SetUp() {
  auto made = GetParam().make();
  ASSERT_TRUE(made) << made.error().message;
  instance_ = std::move(*made);
}

void Contract::TearDown() {
  if (!instance_) return;
  for (const auto& node : nodes_) (void)run(cluster().remove(api::nodes(), {"", node}, {}));
  if (!ns_.empty()) (void)run(cluster().remove(api::namespaces(), {"", ns_}, {}));
  instance_->close();
}

const std::string& Contract::ns() {
  if (!ns_.empty()) return ns_;
  Value object;
  object["metadata"]["name"] = unique("contract");
  ns_ = api::name_of(*must(cluster().create(api::namespaces(), object)));
  return ns_;
}

const std::string& Contract::pod_ns() {
  if (pods_admitted_) return ns();
  if (!eventually([&] { return exists(api::service_accounts(), {ns(), "default"}); })) {
    throw PremiseFailed("no service account \"default\" in the new namespace");
  }
  pods_admitted_ = true;
  return ns();
}

std::string Contract::make_node() {
  Value node;
  node["metadata"]["name"] = unique("node");
  auto created = must(cluster().create(api::nodes(), node));
  nodes_.push_back(api::name_of(*created));
  const Value resources = json::Object{{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}};
  // A real cluster's controllers write to a new node too: who is late looks again.
  while (true) {
    Value ready = *must(cluster().get(api::nodes(), {"", nodes_.back()}));
    ready["status"]["allocatable"] = resources;
    ready["status"]["capacity"] = resources;
    ready["status"]["conditions"] =
        json::Array{json::Object{{"type", "Ready"},
                                 {"status", "True"},
                                 {"reason", "Contract"},
                                 {"lastHeartbeatTime", format_time(loop().now())}}};
    const auto written = run(cluster().update_status(api::nodes(), ready));
    if (written) break;
    if (written.error().code != ErrorCode::Conflict) throw PremiseFailed(written.error().message);
  }
  return nodes_.back();
}

Value Contract::config_map(const std::string& name, const std::string& text) {
  Value object = json::Object{{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
  object["metadata"]["name"] = name;
  object["metadata"]["namespace"] = ns();
  object["data"]["key"] = text;
  return object;
}

Value Contract::pod(const std::string& name) {
  Value object = json::Object{{"apiVersion", "v1"}, {"kind", "Pod"}};
  object["metadata"]["name"] = name;
  object["metadata"]["namespace"] = pod_ns();
  object["spec"]["containers"] = json::Array{json::Object{
      {"name", "main"}, {"image", "example.com/train:1"}, {"command", json::Array{"true"}}}};
  // Nobody's: no scheduler that runs beside the tests takes it.
  object["spec"]["schedulerName"] = "contract";
  return object;
}

Value Contract::service(const std::string& name) {
  Value object = json::Object{{"apiVersion", "v1"}, {"kind", "Service"}};
  object["metadata"]["name"] = name;
  object["metadata"]["namespace"] = ns();
  object["spec"]["selector"]["app"] = name;
  object["spec"]["ports"] = json::Array{json::Object{{"name", "main"}, {"port", 2222}}};
  return object;
}

ObjectPtr Contract::create_pod(const std::string& name) {
  return must(cluster().create(api::pods(), pod(name)));
}

bool Contract::exists(const Resource& resource, const ObjectKey& key) {
  const auto found = run(cluster().get(resource, key));
  if (!found && found.error().code != ErrorCode::NotFound)
    throw PremiseFailed(found.error().message);
  return found.has_value();
}

bool Contract::eventually(const std::function<bool()>& condition, Duration limit) {
  const Monotonic until = loop().monotonic() + limit;
  while (!condition()) {
    if (loop().monotonic() >= until) return false;
    (void)run(rt::sleep_for(loop(), 20ms));
  }
  return true;
}

std::vector<std::string> Contract::list_names(const Resource& resource, cluster::Selection where) {
  std::vector<std::string> names;
  ListOptions options{.where = std::move(where)};
  do {
    const ListPage page = must(cluster().list(resource, options));
    for (const auto& item : page.items) names.push_back(api::name_of(*item));
    options.continue_token = page.continue_token;
  } while (!options.continue_token.empty());
  return names;
}

std::unique_ptr<Watch> Contract::watch_from_now(const Resource& resource,
                                                cluster::Selection where) {
  where.ns = ns();
  const auto page = must(cluster().list(resource, {.where = where}));
  return must(
      cluster().watch(resource, {.where = where, .resource_version = page.resource_version}));
}

WatchEvent Contract::next(Watch& watch) {
  while (true) {
    WatchEvent event = must(watch.next());
    // The real cluster puts a ConfigMap of its own into every new namespace, some time.
    const bool foreign = api::name_of(*event.object) == "kube-root-ca.crt";
    if (event.type != EventType::Bookmark && !foreign) return event;
  }
}

bool Contract::blames(const std::string& field) const {
  for (const auto& cause : last_error_.causes) {
    if (cause.field == field) return true;
  }
  return false;
}

std::vector<InstanceFactory> all_instances() {
  auto all = local_instances();
  for (auto& factory : socket_instances()) all.push_back(std::move(factory));
  for (auto& factory : kube_instances()) all.push_back(std::move(factory));
  return all;
}

RUN_ON_EVERY_CLUSTER(Contract);

}  // namespace muster::contract
