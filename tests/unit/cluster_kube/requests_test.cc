#include "cluster/kube/requests.h"

#include <gtest/gtest.h>

#include "cluster/kube/answers.h"
#include "cluster/kube/watch_splitter.h"
#include "json/read.h"

namespace muster::cluster::kube {
namespace {

const Resource kMsJobs{
    .group = "mindspore.gitee.com", .version = "v1", .plural = "msjobs", .kind = "MSJob"};

TEST(Requests, PathsOfCoreAndGroups) {
  EXPECT_EQ(collection_path(api::pods(), "team"), "/api/v1/namespaces/team/pods");
  EXPECT_EQ(collection_path(api::pods(), ""), "/api/v1/pods");
  EXPECT_EQ(object_path(kMsJobs, {"team", "bert"}),
            "/apis/mindspore.gitee.com/v1/namespaces/team/msjobs/bert");
  EXPECT_EQ(object_path(api::nodes(), {"", "n1"}), "/api/v1/nodes/n1");
}

TEST(Requests, NamesCannotLeaveTheirPlaceInThePath) {
  EXPECT_EQ(object_path(api::pods(), {"a/b", "../x?y"}),
            "/api/v1/namespaces/a%2Fb/pods/..%2Fx%3Fy");
}

TEST(Requests, ListsCarrySelectorsLimitAndContinue) {
  EXPECT_EQ(list_target(api::pods(),
                        {.where = {.ns = "t", .labels = "a in (b,c)", .fields = "spec.nodeName=n"},
                         .limit = 500,
                         .continue_token = "x+/="}),
            "/api/v1/namespaces/t/"
            "pods?labelSelector=a%20in%20%28b%2Cc%29&fieldSelector=spec.nodeName%3Dn&limit=500&"
            "continue=x%2B%2F%3D");
}

TEST(Requests, ListsCarryTheVersionTheyAreOf) {
  EXPECT_EQ(list_target(api::nodes(),
                        {.limit = 0, .resource_version = "7", .resource_version_match = "Exact"}),
            "/api/v1/nodes?resourceVersion=7&resourceVersionMatch=Exact");
}

TEST(Requests, WatchesAskForBookmarksAndAnEnd) {
  EXPECT_EQ(watch_target(api::pods(), {.where = {.ns = "t"}, .resource_version = "7"}, 300),
            "/api/v1/namespaces/t/"
            "pods?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300");
  EXPECT_EQ(watch_target(api::nodes(), {.initial_events = true}, 300),
            "/api/v1/nodes?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&"
            "resourceVersionMatch=NotOlderThan&timeoutSeconds=300");
  EXPECT_EQ(watch_target(api::nodes(), {.bookmarks = false}, 300),
            "/api/v1/nodes?watch=true&timeoutSeconds=300");
}

TEST(Requests, DeletesCarryWhatWasDecidedOn) {
  const auto body =
      json::read(delete_body({.uid = "u", .resource_version = "5", .grace_seconds = 0}));
  ASSERT_TRUE(body);
  EXPECT_EQ((*body)["preconditions"]["uid"].as_string(), "u");
  EXPECT_EQ((*body)["preconditions"]["resourceVersion"].as_string(), "5");
  EXPECT_EQ((*body)["gracePeriodSeconds"], json::Value(0));
  EXPECT_EQ((*body)["propagationPolicy"].as_string(), "Background");
}

TEST(Requests, LogsCarryWhatWasAsked) {
  EXPECT_EQ(log_target({"t", "p"}, {.container = "c", .follow = true, .tail_lines = 10}),
            "/api/v1/namespaces/t/pods/p/log?container=c&follow=true&tailLines=10");
  EXPECT_EQ(log_target({"t", "p"}, {.limit_bytes = 9,
                                    .since_seconds = 60,
                                    .since_time = Time(std::chrono::seconds(1'794'711'845))}),
            "/api/v1/namespaces/t/pods/p/"
            "log?limitBytes=9&sinceSeconds=60&sinceTime=2026-11-15T03%3A04%3A05Z");
}

TEST(Answers, ManagedFieldsAreDroppedAndTheRestIsKept) {
  const auto object = read_object(
      R"({"kind":"Pod","metadata":{"name":"a","managedFields":[{}]},"unknown":{"x":1}})");
  ASSERT_TRUE(object);
  EXPECT_TRUE((**object)["metadata"]["managedFields"].is_null());
  EXPECT_EQ((**object)["unknown"]["x"], json::Value(1));
}

TEST(Answers, ListItemsGetTheTypeThatTheListHas) {
  const auto page = read_list(api::pods(), R"({"metadata":{"resourceVersion":"9","continue":"c"},
      "items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->resource_version, "9");
  EXPECT_EQ(page->continue_token, "c");
  ASSERT_EQ(page->items.size(), 2U);
  EXPECT_EQ(api::kind_of(*page->items[1]), "Pod");
  EXPECT_EQ(api::api_version_of(*page->items[1]), "v1");
  EXPECT_TRUE(read_list(api::pods(), R"({"items":null})"));
  EXPECT_FALSE(read_list(api::pods(), R"({"items":[3]})"));
}

TEST(Answers, EventsOfAllTypes) {
  const auto event = read_event(R"({"type":"DELETED","object":{"metadata":{"name":"a"}}})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, EventType::Deleted);
  EXPECT_EQ(
      read_event(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"5"}}})")->type,
      EventType::Bookmark);
  const auto gone = read_event(
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}})");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::Gone);
  EXPECT_EQ(gone.error().message, "too old");
  for (const char* line :
       {"", "{}", "[]", R"({"type":"ADDED"})", R"({"type":"WHAT","object":{}})", "{\"type\":"}) {
    EXPECT_FALSE(read_event(line)) << line;
  }
}

TEST(Answers, ErrorsKeepTheServersWordsAndRetryAfter) {
  const Error invalid =
      read_error(422, R"({"kind":"Status","reason":"Invalid","message":"Pod \"x\" is invalid",
      "details":{"causes":[{"field":"spec.containers","reason":"FieldValueRequired","message":"Required value"}]}})",
                 "");
  EXPECT_EQ(invalid.code, ErrorCode::Invalid);
  ASSERT_EQ(invalid.causes.size(), 1U);
  EXPECT_EQ(invalid.causes[0].field, "spec.containers");
  const Error busy = read_error(429, "busy", "2");
  EXPECT_EQ(busy.code, ErrorCode::TooManyRequests);
  EXPECT_EQ(busy.retry_after, std::chrono::seconds(2));
  EXPECT_FALSE(read_error(503, "<html>", "Wed, 21 Oct 2026 07:28:00 GMT").retry_after);
}

TEST(Answers, ADeletedObjectIsMadeOfTheStatus) {
  const auto removed =
      read_removed(api::config_maps(), {"t", "c"},
                   R"({"kind":"Status","status":"Success","details":{"name":"c","uid":"u1"}})");
  ASSERT_TRUE(removed);
  EXPECT_EQ(api::uid_of(**removed), "u1");
  EXPECT_EQ(api::key_of(**removed).text(), "t/c");
}

TEST(WatchSplitter, GivesTheSameLinesHoweverTheBytesArrive) {
  const std::string text = "{\"a\":1}\n\n{\"b\":2}\r\n{\"c\":3}\n{\"half";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    WatchSplitter splitter;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at += size) {
      ASSERT_TRUE(splitter.feed(std::string_view(text).substr(at, size)));
      while (const auto line = splitter.next()) lines.emplace_back(*line);
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}\r", "{\"c\":3}"})) << size;
    EXPECT_TRUE(splitter.unfinished());
  }
}

TEST(WatchSplitter, RefusesALineThatNeverEnds) {
  WatchSplitter splitter(100);
  ASSERT_TRUE(splitter.feed(std::string(90, 'x')));
  EXPECT_FALSE(splitter.next());
  EXPECT_EQ(splitter.feed(std::string(20, 'x')).error().code, ErrorCode::TooLarge);
}

}  // namespace
}  // namespace muster::cluster::kube
