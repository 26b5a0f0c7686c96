#include "cluster/reflector.h"

#include <functional>
#include <set>

#include "fixture.h"
#include "simulation/forwarding_cluster.h"

namespace muster::controller {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A server whose lists fail, or whose pages are larger than the client reads.
class Troubled final : public simulation::ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;

  Task<Result<cluster::ListPage>> list(const api::Resource& resource,
                                       cluster::ListOptions options) override {
    limits.push_back(options.limit);
    for (const auto& item : handed_out_) still_held += item.expired() ? 0 : 1;
    handed_out_.clear();
    if (error) co_return fail(*error);
    auto page = CO_TRY(co_await inner_.list(resource, std::move(options)));
    if (std::cmp_greater(page.items.size(), most_in_a_page)) {
      co_return fail(ErrorCode::TooLarge, "the answer is larger than 64 MiB");
    }
    for (auto& item : page.items) {
      item = std::make_shared<const json::Value>(*item);  // the store keeps its own
      handed_out_.emplace_back(item);
    }
    co_return page;
  }

  std::optional<Error> error;
  int most_in_a_page = 1000;
  std::vector<int> limits;  // asked for, in order
  int still_held = 0;       // objects of a page when the next one was asked for

 private:
  std::vector<std::weak_ptr<const json::Value>> handed_out_;
};

class Names final : public cluster::Sink {
 public:
  void begin() override { staged_.clear(); }
  void stage(std::vector<cluster::ObjectPtr> page) override {
    for (const auto& object : page) staged_.insert(api::name_of(*object));
  }
  void commit(const std::string&) override { known = staged_; }
  void apply(const cluster::WatchEvent& event) override {
    known.insert(api::name_of(*event.object));
  }

  std::set<std::string> known;

 private:
  std::set<std::string> staged_;
};

class ReflectorTest : public InMemory {
 protected:
  ReflectorTest() {
    for (int i = 0; i < 10; ++i) add_pod();
  }
  ~ReflectorTest() override { loop_.run(scope_.close()); }

  void add_pod() {
    json::Value pod = owned_pod("p" + std::to_string(pods_++), "nobody");
    pod["metadata"].object().erase("ownerReferences");  // or it would be collected
    must(cluster_->create(api::pods(), std::move(pod)));
  }
  void start() {
    scope_.spawn(reflector_.run());
    loop_.run_for(1s);
  }
  std::string trouble() { return reflector_.trouble() ? reflector_.trouble()->message : ""; }

  int pods_ = 0;
  Troubled troubled_{*cluster_};
  Names names_;
  std::vector<std::string> warnings_;
  Logger log_{
      [this](Severity, std::string_view, std::string_view text) { warnings_.emplace_back(text); },
      Severity::Warning};
  cluster::Reflector reflector_{loop_, troubled_, api::pods(), {}, names_, rng_, log_};
  rt::TaskScope scope_{loop_};
};

TEST_F(ReflectorTest, APageThatIsTooLargeIsAskedForInHalves) {
  troubled_.most_in_a_page = 3;
  start();
  EXPECT_THAT(troubled_.limits, ElementsAre(250, 125, 62, 31, 15, 7, 3, 3, 3, 3));
  EXPECT_THAT(names_.known, SizeIs(10));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ReflectorTest, LaterListsTryLargerPagesAgain) {
  troubled_.most_in_a_page = 3;
  start();
  troubled_.most_in_a_page = 1000;
  loop_.run_for(3h);
  EXPECT_EQ(troubled_.limits.back(), 250);
}

TEST_F(ReflectorTest, NoPageIsKept) {
  troubled_.most_in_a_page = 3;
  start();
  EXPECT_EQ(troubled_.still_held, 0);
}

TEST_F(ReflectorTest, OneObjectThatIsTooLargeIsNamedWithTheLimit) {
  troubled_.most_in_a_page = 0;
  start();
  loop_.run_for(10min);
  EXPECT_THAT(trouble(),
              AllOf(HasSubstr("listing pods"), HasSubstr("one object"), HasSubstr("64 MiB")));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr(trouble()))) << "once";
  EXPECT_FALSE(reflector_.synced().is_set());
  troubled_.most_in_a_page = 1;
  loop_.run_for(1min);
  EXPECT_EQ(trouble(), "");
  EXPECT_THAT(names_.known, SizeIs(10));
}

TEST_F(ReflectorTest, WhatKeepsItFromListingIsSaidOnceUntilItChanges) {
  troubled_.error = Error{.code = ErrorCode::Forbidden, .message = "pods is forbidden"};
  start();
  loop_.run_for(10min);
  EXPECT_THAT(trouble(), HasSubstr("listing pods: pods is forbidden"));
  EXPECT_THAT(warnings_, SizeIs(1));
  EXPECT_GT(reflector_.failed(), 10U);
  troubled_.error = Error{.code = ErrorCode::Unavailable, .message = "connection refused"};
  loop_.run_for(10min);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("forbidden"), HasSubstr("connection refused")));
  troubled_.error.reset();
  loop_.run_for(1min);
  EXPECT_EQ(trouble(), "");
  EXPECT_THAT(warnings_, SizeIs(2));
}

TEST_F(ReflectorTest, AKindThatTheServerDoesNotKnowIsAskedForEveryFewSeconds) {
  reflector_.set_remedy_for_absence("apply its CRD");
  troubled_.error = Error{.code = ErrorCode::NotFound, .message = "not found"};
  start();
  loop_.run_for(1min);
  EXPECT_THAT(trouble(), AllOf(HasSubstr("listing pods"), HasSubstr("apply its CRD")));
  const auto asked = troubled_.limits.size();
  loop_.run_for(1min);
  EXPECT_GE(troubled_.limits.size() - asked, 12U);
  EXPECT_LE(troubled_.limits.size() - asked, 30U);
  troubled_.error.reset();
  loop_.run_for(5s);
  EXPECT_TRUE(reflector_.synced().is_set());
}

}  // namespace
}  // namespace muster::controller
