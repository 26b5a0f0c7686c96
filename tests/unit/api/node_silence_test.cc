#include "api/node_silence.h"

#include <gtest/gtest.h>

#include "json/read.h"

namespace muster::api {
namespace {

using namespace std::chrono_literals;

const Time kAt = parse_time("2026-01-01T00:00:00Z").value();

json::Value pod(const char* metadata, const char* status, const char* node = "gpu-7") {
  json::Value made;
  made["metadata"] = json::read(metadata).value();
  made["status"] = json::read(status).value();
  made["spec"]["nodeName"] = node;
  return made;
}

constexpr const char* kRuns = R"({"phase":"Running","conditions":[
    {"type":"Ready","status":"True"},{"type":"ContainersReady","status":"True"}]})";
constexpr const char* kLeaves =
    R"({"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30})";

// What the node's controller writes beside what the kubelet said last.
std::string unready(const std::string& reason, const std::string& containers) {
  return R"({"phase":"Running","conditions":[{"type":"Ready","status":"False","reason":")" +
         reason + R"(","lastTransitionTime":"2026-01-01T00:00:00Z"},
    {"type":"ContainersReady","status":")" +
         containers + R"("}]})";
}

struct Row {
  const char* name;
  json::Value pod;
  std::optional<Duration> known_after;  // nothing: no silence
};

TEST(NodeSilence, IsReadFromThePodAlone) {
  const std::vector<Row> rows = {
      {"runs", pod("{}", kRuns), std::nullopt},
      {"has no node to wait for", pod(kLeaves, R"({"phase":"Pending"})", ""), std::nullopt},
      {"should be gone", pod(kLeaves, kRuns), 30s},
      {"has ended and should be gone", pod(kLeaves, R"({"phase":"Failed"})"), 30s},
      {"was given back; a finalizer holds it",
       pod(R"({"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0,
               "finalizers":["example.org/f"]})",
           kRuns),
       std::nullopt},
      {"has a finalizer and was not given back",
       pod(R"({"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30,
               "finalizers":["example.org/f"]})",
           kRuns),
       30s},
      {"marked by the node's controller", pod("{}", unready("", "True").c_str()), 0s},
      {"is not ready, says its kubelet", pod("{}", unready("ContainersNotReady", "False").c_str()),
       std::nullopt},
      {"waits for a readiness gate, says its kubelet",
       pod("{}", unready("ReadinessGatesNotReady", "True").c_str()), std::nullopt},
      {"marked as old servers did", pod("{}", unready("NodeLost", "False").c_str()), 0s},
      {"nobody knows",
       pod(R"({"creationTimestamp":"2026-01-01T00:00:00Z"})", R"({"phase":"Unknown"})"), 0s},
      {"lost, by its reason",
       pod(R"({"creationTimestamp":"2026-01-01T00:00:00Z"})",
           R"({"phase":"Running","reason":"NodeLost"})"),
       0s},
      {"ended, whatever became of its node", pod("{}", R"({"phase":"Failed","reason":"NodeLost"})"),
       std::nullopt},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto silence = node_silence(row.pod);
    ASSERT_EQ(silence.has_value(), row.known_after.has_value());
    if (!silence) continue;
    EXPECT_EQ(silence->node, "gpu-7");
    EXPECT_EQ(format_time(silence->since), format_time(kAt));
    EXPECT_EQ(silence->known - silence->since, *row.known_after);
  }
}

}  // namespace
}  // namespace muster::api
