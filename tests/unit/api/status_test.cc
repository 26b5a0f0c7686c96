#include "api/status.h"

#include <gtest/gtest.h>

#include "json/read.h"
#include "json/write.h"

namespace muster::api {
namespace {

using namespace std::chrono_literals;

TEST(Status, HasTheShapeThatClientsMatch) {
  const Error error{.code = ErrorCode::Invalid,
                    .message = "MSJob \"bert\" is invalid",
                    .causes = {{.field = "spec.replicas",
                                .reason = "FieldValueInvalid",
                                .message = "must be at least 1, it is 0"}}};
  EXPECT_EQ(json::write(status_of(
                error, {.group = "mindspore.gitee.com", .kind = "MSJob", .name = "bert"})),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"MSJob \"bert\" is invalid","reason":"Invalid",)"
            R"("details":{"name":"bert","group":"mindspore.gitee.com","kind":"MSJob",)"
            R"("causes":[{"reason":"FieldValueInvalid",)"
            R"("message":"must be at least 1, it is 0","field":"spec.replicas"}]},"code":422})");
}

TEST(Status, WithoutDetailsHasNone) {
  EXPECT_EQ(json::write(status_of({.code = ErrorCode::NotFound, .message = "no"})),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"no","reason":"NotFound","code":404})");
}

TEST(Status, RoundsRetryAfterUpToSeconds) {
  const auto seconds = [](std::chrono::milliseconds wait) {
    const Error error{.code = ErrorCode::TooManyRequests, .retry_after = wait};
    return status_of(error)["details"]["retryAfterSeconds"].as_int();
  };
  EXPECT_EQ(seconds(2000ms), 2);
  EXPECT_EQ(seconds(2001ms), 3);
  EXPECT_EQ(seconds(0ms), 1);
}

TEST(Status, WhatNeverCrossesTheWireIsTranslated) {
  EXPECT_EQ(status_of({.code = ErrorCode::Parse})["reason"].as_string(), "BadRequest");
  EXPECT_EQ(status_of({.code = ErrorCode::Io})["reason"].as_string(), "InternalError");
  EXPECT_EQ(http_code(ErrorCode::Cancelled), 503);
}

TEST(Status, EveryWireErrorComesBackAsItself) {
  for (const auto code :
       {ErrorCode::BadRequest, ErrorCode::Unauthorized, ErrorCode::Forbidden, ErrorCode::NotFound,
        ErrorCode::MethodNotAllowed, ErrorCode::NotAcceptable, ErrorCode::AlreadyExists,
        ErrorCode::Conflict, ErrorCode::Gone, ErrorCode::TooLarge, ErrorCode::UnsupportedMediaType,
        ErrorCode::Invalid, ErrorCode::TooManyRequests, ErrorCode::Internal, ErrorCode::Unavailable,
        ErrorCode::Timeout}) {
    const Error error{.code = code,
                      .message = "why",
                      .causes = {{.field = "f", .reason = "r", .message = "m"}},
                      .retry_after = 7s};
    const Error back = error_from_status(http_code(code), status_of(error));
    EXPECT_EQ(back.code, code) << to_string(code);
    EXPECT_EQ(back.message, "why");
    EXPECT_EQ(back.causes, error.causes);
    EXPECT_EQ(back.retry_after, error.retry_after);
  }
}

struct Answer {
  int http_status;
  const char* body;
  ErrorCode code;
  const char* message;
};

TEST(Status, ReadsWhateverAServerOrProxyAnswers) {
  const Answer answers[] = {
      {409, R"({"reason":"AlreadyExists","message":"m"})", ErrorCode::AlreadyExists, "m"},
      {409, R"({"reason":"Conflict","message":"m"})", ErrorCode::Conflict, "m"},
      {409, R"({"message":"m"})", ErrorCode::Conflict, "m"},
      {410, R"({"reason":"Expired","message":"m"})", ErrorCode::Gone, "m"},
      {410, R"({"reason":"Gone","message":"m"})", ErrorCode::Gone, "m"},
      {410, "null", ErrorCode::Gone, "HTTP 410"},
      // The ERROR event of a watch comes with 200.
      {200, R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})",
       ErrorCode::Gone, "too old"},
      {200, R"({"kind":"Status","code":410,"message":"too old"})", ErrorCode::Gone, "too old"},
      {200, R"({"kind":"Status","code":"x"})", ErrorCode::Internal, "HTTP 500"},
      {500, R"({"reason":"ServerTimeout","message":"m"})", ErrorCode::Timeout, "m"},
      {504, R"({"reason":"Timeout","message":"m"})", ErrorCode::Timeout, "m"},
      {403, R"({"reason":"Forbidden","message":"exceeded quota"})", ErrorCode::Forbidden,
       "exceeded quota"},
      {404, R"("404 page not found\n")", ErrorCode::NotFound, "HTTP 404: 404 page not found"},
      {502, R"("<html>bad gateway</html>")", ErrorCode::Unavailable,
       "HTTP 502: <html>bad gateway</html>"},
      {503, "{}", ErrorCode::Unavailable, "HTTP 503"},
      {418, "[]", ErrorCode::BadRequest, "HTTP 418"},
      {599, R"({"reason":"Odd"})", ErrorCode::Internal, "HTTP 599: Odd"},
      {413, "null", ErrorCode::TooLarge, "HTTP 413"},
      {429, "null", ErrorCode::TooManyRequests, "HTTP 429"},
  };
  for (const Answer& answer : answers) {
    const Error error = error_from_status(answer.http_status, json::read(answer.body).value());
    EXPECT_EQ(error.code, answer.code) << answer.http_status << ' ' << answer.body;
    EXPECT_EQ(error.message, answer.message);
  }
}

TEST(Status, TakesRetryAfterFromTheDetailsWithinReason) {
  const auto wait = [](const char* body) {
    return error_from_status(429, json::read(body).value()).retry_after;
  };
  EXPECT_EQ(wait(R"({"details":{"retryAfterSeconds":5}})"), 5s);
  EXPECT_EQ(wait(R"({"details":{"retryAfterSeconds":0}})"), std::nullopt);
  EXPECT_EQ(wait(R"({"details":{"retryAfterSeconds":-5}})"), std::nullopt);
  EXPECT_EQ(wait(R"({"details":{"retryAfterSeconds":9000000000000000000}})"), 1h);
}

}  // namespace
}  // namespace muster::api
