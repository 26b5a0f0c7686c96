#include "api/event.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/strings.h"

namespace muster::api {
namespace {

using namespace std::chrono_literals;

class EventTest : public ::testing::Test {
 protected:
  json::Value made() { return make_event(content_, Time(1'794'711'845s), rng_); }

  SeededRng rng_{1};
  EventContent content_{.about = {.api_version = "v1",
                                  .kind = "Pod",
                                  .ns = "team",
                                  .name = "bert-worker-0",
                                  .uid = "u-1"},
                        .reason = "Started",
                        .message = "container main runs",
                        .component = "muster-node"};
};

TEST_F(EventTest, SaysWhatHappenedToWhomAndWhoSaysSo) {
  const json::Value event = made();
  EXPECT_EQ(event["involvedObject"]["name"].as_string(), "bert-worker-0");
  EXPECT_EQ(event["involvedObject"]["uid"].as_string(), "u-1");
  EXPECT_EQ(event["metadata"]["namespace"].as_string(), "team");
  EXPECT_EQ(event["type"].as_string(), "Normal");
  EXPECT_EQ(event["reason"].as_string(), "Started");
  EXPECT_EQ(event["source"]["component"].as_string(), "muster-node");
  EXPECT_EQ(event["reportingComponent"].as_string(), "muster-node");
  EXPECT_EQ(event["firstTimestamp"].as_string(), "2026-11-15T03:04:05Z");
  EXPECT_EQ(event["lastTimestamp"].as_string(), "2026-11-15T03:04:05Z");
  EXPECT_EQ(event["count"].as_int(), 1);
}

TEST_F(EventTest, HasANameOfItsOwnThatTheServerTakes) {
  EXPECT_TRUE(made()["metadata"]["name"].as_string().starts_with("bert-worker-0."));
  EXPECT_NE(made()["metadata"]["name"], made()["metadata"]["name"]);
  content_.about.name = std::string(235, 'a') + "-" + std::string(17, 'b');
  const std::string name = made()["metadata"]["name"].as_string();
  EXPECT_LE(name.size(), 253U);
  EXPECT_TRUE(name.starts_with(std::string(235, 'a') + ".")) << name;
}

TEST_F(EventTest, AboutSomethingWithoutNamespaceItLiesInDefault) {
  content_.about.ns = "";
  EXPECT_EQ(made()["metadata"]["namespace"].as_string(), "default");
  EXPECT_EQ(made()["involvedObject"]["namespace"].as_string(), "");
}

TEST_F(EventTest, ALongMessageIsCutBetweenTwoCharacters) {
  for (std::size_t before = 0; before < 4; ++before) {
    std::string text(before, 'x');
    while (text.size() < 2 * limits::kMaxEventMessageBytes) text += "\xE6\xA2\xAF";  // 3 bytes
    const std::string message = event_message(text);
    EXPECT_LE(message.size(), limits::kMaxEventMessageBytes);
    EXPECT_GT(message.size(), limits::kMaxEventMessageBytes - 6);
    EXPECT_TRUE(is_utf8(message)) << before;
    EXPECT_TRUE(message.ends_with("…"));
  }
  EXPECT_EQ(event_message(std::string(limits::kMaxEventMessageBytes, 'x')),
            std::string(limits::kMaxEventMessageBytes, 'x'));
}

TEST_F(EventTest, WhatATerminalWouldObeyIsNotInTheMessage) {
  content_.message = "ended: \x1b[2J";
  EXPECT_EQ(made()["message"].as_string(), "ended: ?[2J");
}

}  // namespace
}  // namespace muster::api
