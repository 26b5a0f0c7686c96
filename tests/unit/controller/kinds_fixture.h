#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/controller.h"
#include "simulation/forwarding_cluster.h"
#include "toy_dialect.h"

namespace muster::controller {

// A server without the CRD of one group, until it is applied.
class WithoutCrd final : public simulation::ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<cluster::ListPage>> list(const api::Resource& resource,
                                       cluster::ListOptions options) override {
    ++lists;
    asked.insert(resource.plural);
    if (resource.group == absent) co_return fail(ErrorCode::NotFound, "404 page not found");
    if (resource == forbidden) co_return fail(ErrorCode::Forbidden, "you may not");
    co_return co_await inner_.list(resource, std::move(options));
  }

  Task<Result<std::unique_ptr<cluster::Watch>>> watch(const api::Resource& resource,
                                                      cluster::WatchOptions options) override {
    asked.insert(resource.plural);
    return inner_.watch(resource, std::move(options));
  }
  Task<Result<api::ObjectPtr>> get(const api::Resource& resource, api::ObjectKey key) override {
    asked.insert(resource.plural);
    return inner_.get(resource, std::move(key));
  }
  Task<Result<api::ObjectPtr>> create(const api::Resource& resource, json::Value object) override {
    if (resource.group == absent) co_return fail(ErrorCode::NotFound, "404 page not found");
    co_return co_await inner_.create(resource, std::move(object));
  }

  std::set<std::string> asked;  // resources that were listed, watched or read
  std::string absent = "none";
  api::Resource forbidden;
  int lists = 0;
};

// A controller over kinds that behave like a real one but for what a test changes.
class KindsTest : public InMemory {
 protected:
  ~KindsTest() override {
    loop_.run(scope_.close());
    if (restarted_) loop_.run(restarted_->close());
    if (toys_) loop_.run(toys_->close());
  }

  // A kind with the name of the real one, in another group or version.
  plan::Identity toy(const std::string& group, const std::string& version = "v1") {
    plan::Identity identity = this->identity();
    identity.resource.group = group;
    identity.resource.version = version;
    return identity;
  }
  void add(plan::Identity identity, ToyDialect::Change change = nullptr) {
    kinds_.add(std::make_unique<ToyDialect>(*registry_.all().front(), std::move(identity),
                                            std::move(change)));
  }
  void start(const std::string& absent = "none") {
    auto made = loop_.run(server::EmbeddedServer::create(
        {.loop = loop_, .rng = rng_, .registry = kinds_, .home = ""}));
    toys_ = std::move(*made);
    cluster_ = std::make_unique<cluster::LocalCluster>(toys_->core());
    front_.emplace(*cluster_);
    front_->absent = absent;
    controller_.emplace(loop_, *front_, kinds_, rng_, log_, Controller::Options{});
    scope_.spawn(controller_->run());
    loop_.run_for(1s);
  }
  void submit(const plan::Identity& identity, const std::string& name) {
    json::Value job = small_job(name);
    job["apiVersion"] = identity.resource.api_version();
    must(cluster_->create(identity.resource, std::move(job)));
    loop_.run_for(6s);
  }
  std::vector<std::string> warnings() {
    std::vector<std::string> messages;
    for (const auto& event : all(api::events())) {
      if ((*event)["type"].as_string() == "Warning")
        messages.push_back((*event)["message"].as_string());
    }
    return messages;
  }
  // The process is gone, and another one starts.
  void restart() {
    loop_.run(scope_.close());
    controller_.emplace(loop_, *front_, kinds_, rng_, log_, Controller::Options{});
    restarted_.emplace(loop_);
    restarted_->spawn(controller_->run());
    loop_.run_for(6s);
  }
  std::vector<std::string> pods() {
    std::vector<std::string> names;
    for (const auto& pod : all(api::pods())) names.push_back(api::name_of(*pod));
    return names;
  }

  plan::Registry kinds_;
  std::unique_ptr<server::EmbeddedServer> toys_;
  std::optional<WithoutCrd> front_;
  std::vector<std::string> said_;
  Logger log_{
      [this](Severity, std::string_view, std::string_view text) { said_.emplace_back(text); },
      Severity::Warning};
  std::optional<Controller> controller_;
  rt::TaskScope scope_{loop_};
  std::optional<rt::TaskScope> restarted_;
};

}  // namespace muster::controller
