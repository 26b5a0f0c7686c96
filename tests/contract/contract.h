#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/object.h"
#include "base/random.h"
#include "instance.h"
#include "rt/wait.h"

namespace muster::contract {

using cluster::DeleteOptions;
using cluster::EventType;
using cluster::ListOptions;
using cluster::ListPage;
using cluster::ObjectKey;
using cluster::ObjectPtr;
using cluster::Propagation;
using cluster::Resource;
using cluster::Watch;
using cluster::WatchEvent;
using cluster::WatchOptions;
using json::Value;
using namespace std::chrono_literals;

// Ends a case whose premise failed; GoogleTest reports it. Never crosses a coroutine.
struct PremiseFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A case of the contract. Calls run to their end one after the other: run() gives what came back,
// must() its value. Each case works in a namespace of its own.
class Contract : public ::testing::TestWithParam<InstanceFactory> {
 protected:
  void SetUp() override;
  void TearDown() override;

  cluster::Cluster& cluster() { return instance_->cluster(); }
  rt::RealLoop& loop() { return instance_->loop(); }

  template <class T>
  Result<T> run(Task<Result<T>> task, Duration limit = 30s) {
    return loop().run(rt::with_timeout(loop(), limit, std::move(task)));
  }
  template <class T>
  T must(Task<Result<T>> task) {
    Result<T> result = run(std::move(task));
    if (!result) {
      throw PremiseFailed(std::string(to_string(result.error().code)) + ": " +
                          result.error().message);
    }
    if constexpr (!std::is_void_v<T>) return std::move(*result);
  }
  template <class T>
  ErrorCode error_of(Task<Result<T>> task) {
    const Result<T> result = run(std::move(task));
    if (result) throw PremiseFailed("succeeded, though it must not");
    last_error_ = result.error();
    return last_error_.code;
  }

  // The namespace of this case, made on first use. With pods in it, its default service account is
  // waited for: the real API server admits no pod before.
  const std::string& ns();
  const std::string& pod_ns();
  // A node that is there and Ready; removed after the case.
  std::string make_node();
  std::string unique(const std::string& prefix) { return prefix + "-" + name_suffix(rng_, 8); }

  Value config_map(const std::string& name, const std::string& text = "v");
  Value pod(const std::string& name);
  Value service(const std::string& name);
  ObjectPtr create_config_map(const std::string& name) {
    return must(cluster().create(api::config_maps(), config_map(name)));
  }
  ObjectPtr create_pod(const std::string& name);

  ObjectPtr get(const Resource& resource, const std::string& name) {
    return must(cluster().get(resource, {ns(), name}));
  }
  bool exists(const Resource& resource, const ObjectKey& key);
  // Asks again until it is true; false after the limit.
  bool eventually(const std::function<bool()>& condition, Duration limit = 30s);
  ObjectPtr remove(const Resource& resource, const std::string& name, DeleteOptions options = {}) {
    return must(cluster().remove(resource, {ns(), name}, std::move(options)));
  }

  std::vector<std::string> list_names(const Resource& resource, cluster::Selection where);
  // A watch of the case's namespace from now on.
  std::unique_ptr<Watch> watch_from_now(const Resource& resource, cluster::Selection where = {});
  // The next event of what the case itself made; no bookmarks.
  WatchEvent next(Watch& watch);
  // Whether an error has a cause at this field.
  [[nodiscard]] bool blames(const std::string& field) const;

  std::unique_ptr<Instance> instance_;
  SystemRng rng_;
  Error last_error_;

 private:
  std::string ns_;
  bool pods_admitted_ = false;
  std::vector<std::string> nodes_;
};

std::vector<InstanceFactory> all_instances();

}  // namespace muster::contract

#define RUN_ON_EVERY_CLUSTER(suite)                                                  \
  INSTANTIATE_TEST_SUITE_P(Cluster, suite,                                           \
                           ::testing::ValuesIn(::muster::contract::all_instances()), \
                           [](const auto& info) { return info.param.name; })
