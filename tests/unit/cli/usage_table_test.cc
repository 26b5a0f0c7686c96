#include "cli/tables/usage_table.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "json/read.h"
#include "json/write.h"

namespace muster::cli {
namespace {

cluster::ObjectPtr object(std::string_view text) {
  return std::make_shared<const json::Value>(*json::read(text));
}

std::vector<cluster::ObjectPtr> pods() {
  return {
      object(R"({"metadata":{"name":"bert-worker-1","namespace":"ml",
        "labels":{"muster.dev/role":"worker","muster.dev/index":"1"},
        "ownerReferences":[{"name":"bert","controller":true}]},
        "spec":{"nodeName":"box","containers":[{"resources":{"limits":{"nvidia.com/gpu":"2"}}}]},
        "status":{"phase":"Running"}})"),
      object(R"({"metadata":{"name":"bert-worker-0","namespace":"ml",
        "labels":{"muster.dev/role":"worker","muster.dev/index":"0"},
        "ownerReferences":[{"name":"bert","controller":true}]},
        "spec":{"nodeName":"box","containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}},{}]},
        "status":{"phase":"Running"}})"),
      object(R"({"metadata":{"name":"over","namespace":"ml"},"spec":{"containers":[{}]},
        "status":{"phase":"Succeeded"}})"),
      object(R"({"metadata":{"name":"plain","namespace":"ml"},"spec":{"nodeName":"box",
        "containers":[{}]},"status":{"phase":"Running"}})"),
  };
}

std::vector<cluster::ObjectPtr> metrics() {
  return {
      object(R"({"metadata":{"name":"bert-worker-0","namespace":"ml"},"containers":[
        {"name":"main","usage":{"cpu":"1980500000n","memory":"2097152Ki","nvidia.com/gpu":"970m",
          "nvidia.com/gpu-memory":"71Gi"}},
        {"name":"side","usage":{"cpu":"20m","memory":"1048576Ki"}}]})"),
      object(R"({"metadata":{"name":"bert-worker-1","namespace":"ml"},"containers":[
        {"name":"main","usage":{"cpu":"0","memory":"5Mi"}}]})"),
  };
}

TEST(UsageTable, ARowARank) {
  const auto lines = usage_lines(usage_of(pods(), metrics()));
  EXPECT_EQ(join(lines, "\n"),
            "JOB    RANK       CPU     MEMORY   GPU      GPU-MEMORY   POD             NODE\n"
            "-      -          ?       ?        -        -            plain           box\n"
            "bert   worker-0   2001m   3.0Gi    0.97/1   71Gi         bert-worker-0   box\n"
            "bert   worker-1   0m      5Mi      ?/2      -            bert-worker-1   box\n"
            "How busy the GPUs are is not known here.");
}

TEST(UsageTable, NothingIsSaidOfGpusThatNobodyAskedFor) {
  const auto lines = usage_lines(usage_of({pods().back()}, {}));
  ASSERT_EQ(lines.size(), 2U);
}

TEST(UsageTable, AsJson) {
  const auto ranks = usage_of({pods()[1], pods()[3]}, metrics());
  EXPECT_EQ(
      json::write(usage_json(ranks)),
      R"([{"namespace":"ml","job":"","role":"","rank":0,"pod":"plain","node":"box","gpus":0},)"
      R"({"namespace":"ml","job":"bert","role":"worker","rank":0,"pod":"bert-worker-0",)"
      R"("node":"box","gpus":1,"cpuMilli":2001,"memoryBytes":3221225472,"gpuMilli":970,)"
      R"("gpuMemoryBytes":76235669504}])");
}

}  // namespace
}  // namespace muster::cli
