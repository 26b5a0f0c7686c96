#include "verb_fixture.h"

#include "cli/verbs/verbs.h"

// Two kinds of one name live side by side in every verb that takes a name.
namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

class TwoKinds : public VerbTest {
 protected:
  void SetUp() override {
    create(old_, "bert");
    create(new_, "bert");
    create(new_, "gpt");
  }
  Outcome get_it(std::string resource, std::vector<std::string> names = {},
                 std::string output = "name") {
    names.insert(names.begin(), resource);
    return outcome(
        [&](Context& context) { return get(context, {.words = names, .output = output}); });
  }
  Outcome describe_it(std::string name, std::string resource = "") {
    std::vector<std::string> words = {name};
    if (!resource.empty()) words.insert(words.begin(), resource);
    return outcome([&](Context& context) { return describe(context, {.words = words}); });
  }
  Outcome delete_it(std::vector<std::string> words) {
    return outcome([&](Context& context) { return remove(context, {.words = words}); });
  }
  Outcome wait_for(std::string name) {
    return outcome([&](Context& context) {
      return wait(
          context,
          {.words = {name}, .condition = "running", .timeout = std::chrono::milliseconds(50)});
    });
  }
  Outcome logs_of(std::string name) {
    return outcome([&](Context& context) { return logs(context, {.name = name}); });
  }
  const ToyKind& old_ = kind("MSJob", "old.dev");
  const ToyKind& new_ = kind("MSJob", "new.dev");
};

constexpr auto kBoth = "msjobs.old.dev/bert or msjobs.new.dev/bert";

TEST_F(TwoKinds, AreListedTogetherAndEachAlone) {
  EXPECT_EQ(get_it("jobs").out, "msjobs.old.dev/bert\nmsjobs.new.dev/bert\nmsjobs.new.dev/gpt\n");
  EXPECT_EQ(get_it("msjobs.old.dev").out, "msjobs.old.dev/bert\n");
  EXPECT_EQ(get_it("msjobs.new.dev").out, "msjobs.new.dev/bert\nmsjobs.new.dev/gpt\n");
}

TEST_F(TwoKinds, AreToldApartInTheTable) {
  EXPECT_THAT(get_it("jobs", {}, "").out,
              AllOf(HasSubstr("MSJob.old.dev"), HasSubstr("MSJob.new.dev")));
  EXPECT_THAT(get_it("msjobs.old.dev", {}, "").out, Not(HasSubstr("MSJob.old.dev")));
}

TEST_F(TwoKinds, AnAmbiguousKindIsWrongUsage) {
  for (const char* name : {"msjobs", "msjob", "MSJob"}) {
    const Outcome seen = get_it(name);
    EXPECT_EQ(seen.code, 2) << name;
    EXPECT_THAT(seen.err, HasSubstr("msjobs.old.dev or msjobs.new.dev")) << name;
    EXPECT_THAT(seen.out, IsEmpty());
  }
  EXPECT_EQ(describe_it("bert", "msjobs").code, 2);
  EXPECT_EQ(describe_it("msjobs/bert").code, 2);
  EXPECT_EQ(wait_for("msjobs/bert").code, 2);
  EXPECT_EQ(logs_of("msjobs/bert").code, 2);
  EXPECT_EQ(delete_it({"msjobs", "bert"}).code, 2);
  EXPECT_TRUE(exists(old_, "bert") && exists(new_, "bert"));
}

TEST_F(TwoKinds, GetShowsEveryJobOfAName) {
  EXPECT_EQ(get_it("jobs", {"bert"}).out, "msjobs.old.dev/bert\nmsjobs.new.dev/bert\n");
  EXPECT_EQ(get_it("msjobs.old.dev", {"bert"}).out, "msjobs.old.dev/bert\n");
  const Outcome none = get_it("msjobs.old.dev", {"gpt"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("msjobs.old.dev \"gpt\" not found"));
}

TEST_F(TwoKinds, ANameOfTwoJobsIsAnErrorThatNamesBoth) {
  for (const Outcome& seen : {describe_it("bert"), describe_it("bert", "jobs"), wait_for("bert"),
                              logs_of("bert"), delete_it({"bert"}), delete_it({"jobs", "bert"})}) {
    EXPECT_EQ(seen.code, 1);
    EXPECT_THAT(seen.err, HasSubstr(kBoth));
    EXPECT_THAT(seen.out, IsEmpty());
  }
  EXPECT_TRUE(exists(old_, "bert") && exists(new_, "bert"));
}

TEST_F(TwoKinds, AnErrorsSpellingIsAccepted) {
  EXPECT_THAT(describe_it("msjobs.old.dev/bert").out, HasSubstr("MSJob old.dev/v1"));
  EXPECT_THAT(describe_it("msjobs.new.dev/bert").out, HasSubstr("MSJob new.dev/v1"));
  EXPECT_THAT(describe_it("bert", "msjobs.new.dev").out, HasSubstr("MSJob new.dev/v1"));
  EXPECT_EQ(wait_for("msjobs.new.dev/bert").code, 124);
  EXPECT_EQ(logs_of("msjobs.new.dev/bert").code, 0);
}

TEST_F(TwoKinds, DeleteTakesTheOneThatIsNamed) {
  const Outcome seen = delete_it({"msjobs.new.dev/bert"});
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_EQ(seen.out, "msjobs.new.dev \"bert\" deleted\n");
  EXPECT_FALSE(exists(new_, "bert"));
  EXPECT_TRUE(exists(old_, "bert"));
  // Now the name means one job again.
  EXPECT_EQ(delete_it({"bert"}).code, 0);
  EXPECT_FALSE(exists(old_, "bert"));
}

TEST_F(TwoKinds, ANameOfOneJobNeedsNoKind) {
  EXPECT_THAT(describe_it("gpt").out, HasSubstr("MSJob new.dev/v1"));
  EXPECT_THAT(describe_it("nothing").err, HasSubstr("no job \"nothing\" in namespace default"));
  EXPECT_EQ(delete_it({"gpt"}).code, 0);
}

class AbsentKind : public VerbTest {
 protected:
  const ToyKind& there_ = kind("MSJob", "old.dev");
  const ToyKind& absent_ = kind("MSJob", "new.dev", Where::OnlyKnown);
};

TEST_F(AbsentKind, IsPassedOverWhenKindsAreLookedThrough) {
  create(there_, "bert");
  const auto list = [](std::string resource, std::vector<std::string> names) {
    names.insert(names.begin(), resource);
    return [=](Context& context) { return get(context, {.words = names, .output = "name"}); };
  };
  EXPECT_EQ(outcome(list("jobs", {})).out, "msjobs.old.dev/bert\n");
  EXPECT_EQ(outcome(list("jobs", {"bert"})).out, "msjobs.old.dev/bert\n");
  EXPECT_EQ(outcome(list("msjobs.new.dev", {})).code, 1);
  const Outcome described =
      outcome([](Context& context) { return describe(context, {.words = {"bert"}}); });
  EXPECT_THAT(described.out, HasSubstr("MSJob old.dev/v1"));
  EXPECT_THAT(described.err, IsEmpty());
  const Outcome removed =
      outcome([](Context& context) { return remove(context, {.words = {"bert"}}); });
  EXPECT_EQ(removed.code, 0) << removed.err;
}

class NothingInstalled : public VerbTest {
 protected:
  NothingInstalled() { kind("Toy", "toy.dev", Where::OnlyKnown); }
  std::string error_of(const std::string& name) {
    const Outcome seen =
        outcome([&](Context& context) { return remove(context, {.words = {name}}); });
    EXPECT_EQ(seen.code, 1);
    return seen.err;
  }
};

TEST_F(NothingInstalled, ANameIsNotLookedForInVain) {
  EXPECT_THAT(error_of("bert"), HasSubstr("knows none of Muster's kinds; install them with: "
                                          "kubectl apply --server-side -f deploy/install.yaml"));
  EXPECT_THAT(error_of("toys/bert"), HasSubstr("does not know toys.toy.dev; install it with: "));
}

}  // namespace
}  // namespace muster::cli
