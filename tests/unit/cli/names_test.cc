#include "api/object.h"
#include "cli/cluster/node_options.h"
#include "cli/verbs/verbs.h"
#include "verb_fixture.h"

// Names as users write them, in every verb that takes one.
namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Names : public VerbTest {
 protected:
  void SetUp() override {
    create(toy_, "bert", json::Object{{"state", "GOING"}});
    create(api::pods(), rank(toy_, "bert", 0));
    create(api::pods(), pod("alone", json::Object{{"running", json::Object{}}}));
  }
  Outcome get_it(std::vector<std::string> words, std::string output = "name") {
    return outcome(
        [&](Context& context) { return get(context, {.words = words, .output = output}); });
  }
  Outcome describe_it(std::vector<std::string> words) {
    return outcome([&](Context& context) { return describe(context, {.words = words}); });
  }
  Outcome delete_it(DeleteOptions options) {
    return outcome([&](Context& context) { return remove(context, options); });
  }
  Outcome wait_for(std::vector<std::string> words, std::string condition) {
    return outcome([&](Context& context) {
      return wait(
          context,
          {.words = words, .condition = condition, .timeout = std::chrono::milliseconds(50)});
    });
  }
  Outcome exec_in(std::vector<std::string> words, std::string role = "",
                  std::optional<int> index = {}) {
    return outcome([&](Context& context) {
      return exec(context, {.words = words, .role = role, .rank = index, .command = {"true"}});
    });
  }
  Outcome pause_it(std::vector<std::string> words) {
    return outcome(
        [&](Context& context) { return pause(context, {.words = words, .wait = false}); });
  }
  Outcome resume_it(std::vector<std::string> words) {
    return outcome([&](Context& context) { return resume(context, {.words = words}); });
  }

  const ToyKind& toy_ = kind("Toy", "toy.dev");
};

TEST_F(Names, GetFindsAJobOrAPodByItsNameAlone) {
  EXPECT_EQ(get_it({"bert"}).out, "toys.toy.dev/bert\n");
  EXPECT_EQ(get_it({"alone"}).out, "pods/alone\n");
  EXPECT_EQ(get_it({"pods/alone", "bert"}).out, "pods/alone\ntoys.toy.dev/bert\n");
  EXPECT_EQ(get_it({"pods", "alone", "bert-rank-0"}).out, "pods/alone\npods/bert-rank-0\n");
  EXPECT_EQ(get_it({"Pod/alone"}).out, "pods/alone\n");
  EXPECT_EQ(get_it({"pod.v1/alone"}).out, "pods/alone\n");
}

TEST_F(Names, WhatGetPrintsIsWhatEveryVerbTakes) {
  for (const std::string& name : {get_it({"toys"}).out, get_it({"pods", "alone"}).out}) {
    const std::string word = name.substr(0, name.size() - 1);
    const std::string bare = word.substr(word.find('/') + 1);
    EXPECT_EQ(get_it({word}).out, name);
    EXPECT_THAT(describe_it({word}).out, HasSubstr(bare)) << word;
    EXPECT_EQ(wait_for({word}, "running").out, word + " running\n");
    // No pod runs in a store alone: it gets as far as that.
    EXPECT_THAT(exec_in({word}).err, Not(HasSubstr("not found"))) << word;
  }
  EXPECT_EQ(pause_it({"toys.toy.dev/bert"}).code, 0);
  EXPECT_EQ(resume_it({"toys.toy.dev/bert"}).code, 0);
  EXPECT_EQ(delete_it({.words = {"pods/alone", "toys.toy.dev/bert"}, .wait = false}).code, 0);
}

TEST_F(Names, EveryTypeThatIsListedIsUnderstood) {
  for (const char* type : {"leases.coordination.k8s.io", "storageclasses.storage.k8s.io",
                           "roles.rbac.authorization.k8s.io", "clusterroles", "rolebindings",
                           "StorageClass", "nodes", "no"}) {
    const Outcome seen = get_it({type});
    EXPECT_EQ(seen.code, 0) << type << seen.err;
  }
}

TEST_F(Names, SeveralTypesAreTablesBelowEachOther) {
  const Outcome seen = get_it({"toys,pods"}, "");
  EXPECT_THAT(seen.out, ContainsRegex("toys.toy.dev/bert +Toy +Running"));
  EXPECT_THAT(seen.out, ContainsRegex("\n\nNAME +READY"));
  EXPECT_THAT(seen.out, ContainsRegex("\npods/alone +1/1 +Running"));
}

TEST_F(Names, ANameThatIsNotThereIsSaidAndTheRestIsShown) {
  const Outcome seen = get_it({"pods", "alone", "nobody"});
  EXPECT_EQ(seen.code, 1);
  EXPECT_EQ(seen.out, "pods/alone\n");
  EXPECT_THAT(seen.err, HasSubstr("pods \"nobody\" not found"));
}

TEST_F(Names, NearMissesAreSuggested) {
  EXPECT_THAT(get_it({"brt"}).err,
              HasSubstr("no job \"brt\" in namespace default; did you mean bert?"));
  EXPECT_THAT(describe_it({"pods/alon"}).err,
              HasSubstr("pods \"alon\" not found; did you mean alone?"));
  EXPECT_THAT(get_it({"pdos"}).err, HasSubstr("did you mean pods?"));
  EXPECT_THAT(describe_it({"pdos/alone"}).err, HasSubstr("did you mean pods?"));
  EXPECT_THAT(wait_for({"bret"}, "finished").err, HasSubstr("did you mean bert?"));
  EXPECT_THAT(delete_it({.words = {"brt"}}).err, HasSubstr("did you mean bert?"));
  EXPECT_THAT(exec_in({"brt"}).err, HasSubstr("did you mean bert?"));
  EXPECT_THAT(pause_it({"brt"}).err, HasSubstr("did you mean bert?"));
}

TEST_F(Names, AnotherNamespaceIsNamed) {
  create(api::namespaces(), json::Object{{"apiVersion", "v1"},
                                         {"kind", "Namespace"},
                                         {"metadata", json::Object{{"name", "ml"}}}});
  json::Value job = toy_.job("gpt");
  job["metadata"]["namespace"] = "ml";
  create(toy_.identity().resource, job);
  EXPECT_THAT(get_it({"gpt"}).err,
              HasSubstr("no job \"gpt\" in namespace default; there is one in ml"));
}

TEST_F(Names, ArgumentsAreNeverSwapped) {
  EXPECT_THAT(describe_it({"bert", "pods"}).err,
              AllOf(HasSubstr("no job \"pods\""), HasSubstr("a type comes before the names")));
  EXPECT_THAT(get_it({"pods", "toys/bert"}).err, HasSubstr("a type is given once"));
  EXPECT_EQ(get_it({"pods", "toys/bert"}).code, 2);
  EXPECT_EQ(describe_it({"pods/"}).code, 2);
  EXPECT_EQ(describe_it({"a/b/c"}).code, 2);
  EXPECT_THAT(exec_in({"alone", "bert"}).err, HasSubstr("one thing at a time"));
}

TEST_F(Names, VerbsForJobsSayThatOthersAreNone) {
  const Outcome seen = pause_it({"pods/alone"});
  EXPECT_EQ(seen.code, 2);
  EXPECT_THAT(seen.err, HasSubstr("pods/alone: pods are no jobs"));
  EXPECT_EQ(resume_it({"pods", "alone"}).code, 2);
  EXPECT_THAT(exec_in({"services/x"}).err, HasSubstr("services run nothing"));
  EXPECT_EQ(exec_in({"services/x"}).code, 2);
}

TEST_F(Names, ARankThatIsNotThereIsToldFromOneThatDoesNotRun) {
  EXPECT_THAT(exec_in({"bert"}, "Wroker").err,
              AllOf(HasSubstr("job \"bert\" has no role Wroker"), HasSubstr("Rank 0-3")));
  EXPECT_THAT(exec_in({"bert"}, "rank", 9).err,
              AllOf(HasSubstr("has no Rank 9"), HasSubstr("Rank 0-3")));
  EXPECT_THAT(exec_in({"bert"}, "", 2).err,
              AllOf(HasSubstr("rank 2 of job \"bert\" does not run"), HasSubstr("Rank 0")));
  EXPECT_THAT(exec_in({"alone"}, "Rank").err, HasSubstr("--role and --rank are for jobs"));
}

TEST_F(Names, DeleteTellsAPodFromNobody) {
  const Outcome seen = delete_it({.words = {"alone"}});
  EXPECT_EQ(seen.code, 1);
  EXPECT_THAT(seen.err, HasSubstr("to delete the pod: muster delete pods/alone"));
}

TEST_F(Names, DeleteSelects) {
  json::Value labelled = pod("red");
  labelled["metadata"]["labels"]["color"] = "red";
  create(api::pods(), labelled);
  const Outcome some = delete_it({.words = {"pods"}, .labels = "color=red"});
  EXPECT_EQ(some.out, "pods \"red\" deleted\n") << some.err;
  EXPECT_EQ(delete_it({.words = {"pods", "alone"}, .all = true}).code, 2);
  EXPECT_EQ(delete_it({.words = {"pods/alone"}, .labels = "a=b"}).code, 2);
  const Outcome all = delete_it({.all = true, .wait = false});
  EXPECT_EQ(all.out, "toys.toy.dev \"bert\" deleted\n") << all.err;
  const Outcome none = delete_it({.words = {"configmaps"}, .labels = "color=red"});
  EXPECT_EQ(none.code, 0);
  EXPECT_THAT(none.err, HasSubstr("No resources found in default namespace"));
  EXPECT_EQ(get_it({"pods", "alone"}).code, 0) << "--all is of jobs";
}

TEST_F(Names, WhatIsNotThereMayBeFine) {
  EXPECT_EQ(delete_it({.words = {"nobody"}}).code, 1);
  const Outcome seen = delete_it(
      {.words = {"nobody", "pods/none", "bert"}, .ignore_not_found = true, .wait = false});
  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.err, IsEmpty());
  EXPECT_EQ(seen.out, "toys.toy.dev \"bert\" deleted\n");
}

TEST_F(Names, TheRestIsDeletedWhenOneIsNotThere) {
  const Outcome seen = delete_it({.words = {"nobody", "bert"}, .wait = false});
  EXPECT_EQ(seen.code, 1);
  EXPECT_EQ(seen.out, "toys.toy.dev \"bert\" deleted\n");
  EXPECT_THAT(seen.err, HasSubstr("no job \"nobody\""));
}

TEST_F(Names, ThisMachinesNodeIsNotDeleted) {
  for (const std::string& name : {node_name(), std::string("other")}) {
    create(api::nodes(),
           json::Object{
               {"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", json::Object{{"name", name}}}});
  }
  const Outcome seen = delete_it({.words = {"nodes"}, .all = true});
  EXPECT_EQ(seen.code, 1);
  EXPECT_EQ(seen.out, "nodes \"other\" deleted\n");
  EXPECT_THAT(seen.err, HasSubstr("is this machine, and stays"));
  EXPECT_EQ(get_it({"nodes"}).out, "nodes/" + node_name() + "\n");
}

}  // namespace
}  // namespace muster::cli
