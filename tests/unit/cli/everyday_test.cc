#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "words_fixture.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Whole command lines against a home where nothing runs: what is created, listed and refused.
class Everyday : public WordsTest {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = home() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  static constexpr const char* kObjects =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: one}\n---\n"
      "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n"
      "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n---\n"
      "apiVersion: v1\nkind: Service\nmetadata: {name: front}\n"
      "spec: {ports: [{port: 80}], selector: {a: b}}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata: {name: probe}\n"
      "spec: {restartPolicy: Never, containers: [{name: main, image: x, command: [ls]}]}\n";
};

TEST_F(Everyday, ObjectsOfAFileAreCreatedListedAndDeleted) {
  const std::string all = file("all.yaml", kObjects);
  const Outcome created = run({"run", "--detach", all});
  EXPECT_EQ(created.code, exit_code::kOk) << created.err;
  EXPECT_THAT(created.err, HasSubstr("Attach  muster attach pods/probe"));
  EXPECT_THAT(run({"get", "services", "front"}).out, StartsWith("NAME    TYPE        CLUSTER-IP"));
  EXPECT_EQ(run({"wait", "pvc/data", "--for=jsonpath={.status.phase}=Bound"}).code, 0);
  EXPECT_THAT(run({"get", "pvc"}).out, HasSubstr("data   Bound    pvc-"));
  EXPECT_THAT(run({"get", "configmaps", "settings"}).out, StartsWith("NAME       AGE\nsettings"));
  EXPECT_THAT(run({"get", "pods", "-o", "wide"}).out, HasSubstr("<none>"));
  EXPECT_THAT(run({"get", "namespaces", "-o", "name"}).out, HasSubstr("namespaces/default\n"));
  EXPECT_THAT(run({"get", "pv"}).out, HasSubstr("default/data"));
  EXPECT_THAT(run({"describe", "pods/probe"}).out, HasSubstr("probe"));
  EXPECT_THAT(run({"describe", "pvc", "data"}).out, HasSubstr("storage: 1Gi"));
  EXPECT_EQ(run({"run", "--detach", all}).code, exit_code::kOurs);  // the pod is there
  const Outcome gone = run({"delete", "-f", all, "--no-wait"});
  EXPECT_EQ(gone.code, exit_code::kOk) << gone.err;
  EXPECT_THAT(gone.out, HasSubstr("services \"front\" deleted"));
  EXPECT_EQ(run({"get", "services", "front"}).code, exit_code::kFailed);
}

TEST_F(Everyday, WhatDiffersIsUpdatedUnlessItIsForGood) {
  const auto with_pod = [](const std::string& first, const std::string& name) {
    return first + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           "}\nspec: {restartPolicy: Never, containers: [{name: m, image: x, command: [ls]}]}\n";
  };
  const std::string map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: ";
  EXPECT_EQ(run({"run", "-d", file("a.yaml", with_pod(map + "one}\n", "p1"))}).code, 0);
  EXPECT_EQ(run({"run", "-d", file("b.yaml", with_pod(map + "two}\n", "p2"))}).code, 0);
  EXPECT_EQ(run({"get", "configmaps", "m", "-o", "jsonpath={.data.a}"}).out, "two");
  const std::string claim =
      "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\n"
      "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: ";
  EXPECT_EQ(run({"run", "-d", file("c.yaml", with_pod(claim + "1Gi}}}\n", "p3"))}).code, 0);
  const Outcome differs = run({"run", "-d", file("d.yaml", with_pod(claim + "2Gi}}}\n", "p4"))});
  EXPECT_EQ(differs.code, exit_code::kOurs);
  EXPECT_THAT(differs.err, StartsWith("error: "));
  EXPECT_EQ(run({"get", "pods", "p4"}).code, exit_code::kFailed);  // nothing was created
  EXPECT_EQ(run({"run", "-d", file("e.yaml", with_pod(claim + "1Gi}}}\n", "p5"))}).code, 0)
      << "what is as the file says may be there";
}

TEST_F(Everyday, ADryRunCreatesNothing) {
  const std::string pod =
      file("pod.yaml",
           "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
           "spec: {restartPolicy: Never, containers: [{name: m, image: x, command: [ls]}]}\n");
  for (const std::string form : {"yaml", "json"}) {
    const Outcome dry = run({"run", pod, "--dry-run=client", "-o", form});
    EXPECT_EQ(dry.code, exit_code::kOk) << dry.err;
    EXPECT_THAT(dry.out, HasSubstr("Pod"));
  }
  EXPECT_EQ(run({"get", "pods", "p"}).code, exit_code::kFailed);
}

TEST_F(Everyday, ABadManifestIsOurs) {
  EXPECT_EQ(run({"run", "/nothing/there.yaml"}).code, exit_code::kOurs);
  EXPECT_EQ(run({"run", file("empty.yaml", "")}).code, exit_code::kOurs);
  EXPECT_EQ(run({"run", file("bad.yaml", "a: [")}).code, exit_code::kOurs);
  const Outcome kind =
      run({"run", file("kind.yaml", "apiVersion: a/v1\nkind: Nothing\nmetadata: {name: x}\n")});
  EXPECT_EQ(kind.code, exit_code::kOurs);
  EXPECT_THAT(kind.err, HasSubstr("Nothing"));
}

TEST_F(Everyday, PauseAndResume) {
  const ToyKind& kind = this->kind("TrainJob", "example.org");
  create(kind, "bert");
  create(kind, "over", json::Object{{"state", "DONE"}});
  EXPECT_EQ(run({"pause", "bert", "--no-wait"}).code, exit_code::kOk);
  EXPECT_THAT(run({"get", "bert", "-o", "yaml"}).out, HasSubstr("muster.dev/suspend: \"true\""));
  EXPECT_EQ(run({"resume", "bert"}).code, exit_code::kOk);
  const Outcome over = run({"pause", "over"});
  EXPECT_EQ(over.code, exit_code::kFailed);
  EXPECT_THAT(over.err, HasSubstr("over has ended (succeeded): there is nothing to pause"));
  EXPECT_THAT(run({"resume", "over"}).err, HasSubstr("there is nothing to resume"));
  EXPECT_EQ(run({"pause", "nothing"}).code, exit_code::kFailed);
  EXPECT_EQ(run({"pause", "pods/x"}).code, exit_code::kUsage);
}

TEST_F(Everyday, ExecNeedsSomethingThatRuns) {
  const ToyKind& kind = this->kind("TrainJob", "example.org");
  create(kind, "bert");
  const Outcome idle = run({"exec", "bert", "--", "ls"});
  EXPECT_EQ(idle.code, exit_code::kFailed);
  EXPECT_THAT(idle.err, HasSubstr("none of its pods runs"));
  EXPECT_EQ(run({"exec", "nothing", "--", "ls"}).code, exit_code::kFailed);
}

}  // namespace
}  // namespace muster::cli
