#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/object.h"
#include "base/random.h"
#include "cluster/local/local_cluster.h"
#include "dialects/registry.h"
#include "plan/dialect.h"
#include "rt/scope.h"
#include "rt/sim_loop.h"
#include "server/embedded.h"

namespace muster::controller {

using namespace std::chrono_literals;

// A kind as the real one has it, but the server takes whatever it is given: as an object that an
// older server stored, or one behind a CRD without our schema.
class LenientDialect : public plan::Dialect {
 public:
  explicit LenientDialect(const plan::Dialect& real) : real_(real) {}
  [[nodiscard]] const plan::Identity& identity() const override { return real_.identity(); }
  [[nodiscard]] std::vector<FieldCause> validate(const json::Value&) const override { return {}; }
  [[nodiscard]] Result<plan::Plan> compile(const json::Value& job) const override {
    return real_.compile(job);
  }
  [[nodiscard]] json::Value status(const plan::Plan& plan, const json::Value& status,
                                   const plan::Verdict& verdict, Time now) const override {
    return real_.status(plan, status, verdict, now);
  }
  [[nodiscard]] json::Value schema() const override { return real_.schema(); }
  [[nodiscard]] bool manages(const json::Value& job) const override { return real_.manages(job); }
  [[nodiscard]] plan::StoredPhase phase_of(const json::Value& status) const override {
    return real_.phase_of(status);
  }
  [[nodiscard]] std::optional<plan::EventText> event_for(const plan::JobRef& job,
                                                         const plan::Note& note) const override {
    return real_.event_for(job, note);
  }

 protected:
  const plan::Dialect& real_;
};

// The embedded server in memory, in virtual time.
class InMemory : public ::testing::Test {
 protected:
  InMemory() : loop_(Time{} + 1000h), rng_(7), registry_(dialects::make_registry()) {
    lenient_.add(std::make_unique<LenientDialect>(*registry_.all().front()));
    auto made = loop_.run(server::EmbeddedServer::create(
        {.loop = loop_, .rng = rng_, .registry = lenient_, .home = ""}));
    server_ = std::move(*made);
    cluster_ = std::make_unique<cluster::LocalCluster>(server_->core());
  }
  ~InMemory() override { loop_.run(server_->close()); }

  [[nodiscard]] const plan::Identity& identity() const {
    return registry_.all().front()->identity();
  }
  [[nodiscard]] const api::Resource& jobs() const { return identity().resource; }
  template <class T>
  T must(Task<Result<T>> task) {
    Result<T> result = loop_.run(std::move(task));
    if (!result) ADD_FAILURE() << result.error().message;
    return result ? std::move(*result) : T{};
  }
  api::ObjectPtr get(const api::Resource& resource, const std::string& name) {
    return must(cluster_->get(resource, {.ns = "default", .name = name}));
  }
  std::vector<api::ObjectPtr> all(const api::Resource& resource) {
    return must(cluster_->list(resource, {.where = {.ns = "default"}})).items;
  }

  rt::SimLoop loop_;
  SeededRng rng_;
  plan::Registry registry_;
  plan::Registry lenient_;
  std::unique_ptr<server::EmbeddedServer> server_;
  std::unique_ptr<cluster::LocalCluster> cluster_;
};

// One Worker; nothing else is needed to be a job.
inline json::Value small_job(const std::string& name) {
  return json::Object{
      {"apiVersion", "mindspore.gitee.com/v1"},
      {"kind", "MSJob"},
      {"metadata", json::Object{{"name", name}, {"namespace", "default"}}},
      {"spec",
       json::Object{
           {"runPolicy", json::Object{}},
           {"msReplicaSpecs",
            json::Object{
                {"Worker",
                 json::Object{{"replicas", 1},
                              {"template",
                               json::Object{{"spec", json::Object{{"containers",
                                                                   json::Array{json::Object{
                                                                       {"name", "mindspore"},
                                                                       {"image", "i"}}}}}}}}}}}}}}};
}

inline json::Value owned_pod(const std::string& name, const std::string& owner_uid,
                             const std::string& version = "") {
  const api::OwnerReference owner{.api_version = "mindspore.gitee.com/v1",
                                  .kind = "MSJob",
                                  .name = "train",
                                  .uid = owner_uid,
                                  .controller = true};
  json::Value pod = json::Object{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", json::Object{{"name", name},
                                {"namespace", "default"},
                                {"ownerReferences", json::Array{owner.to_json()}}}},
      {"spec", json::Object{{"containers",
                             json::Array{json::Object{{"name", "mindspore"}, {"image", "i"}}}}}}};
  if (!version.empty()) {
    pod["metadata"]["uid"] = "uid-" + name;
    pod["metadata"]["resourceVersion"] = version;
  }
  return pod;
}

}  // namespace muster::controller
