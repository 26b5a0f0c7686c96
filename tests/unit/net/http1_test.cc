#include "net/http1/protocol.h"

#include <gtest/gtest.h>

namespace muster::net {
namespace {

struct Parsed {
  Result<std::size_t> taken;
  std::optional<HttpRequest> request;
};

// Feeds in pieces of the given size.
Parsed parse_request(std::string_view text, std::size_t piece, Http1Limits limits = {}) {
  RequestParser parser(limits);
  std::size_t at = 0;
  while (at < text.size() && !parser.done()) {
    const auto taken = parser.feed(text.substr(at, piece));
    if (!taken) return {taken, std::nullopt};
    at += *taken;
  }
  if (!parser.done()) return {at, std::nullopt};
  return {at, parser.take()};
}

TEST(RequestParser, GivesTheSameRequestHoweverTheBytesArrive) {
  const std::string text =
      "POST /api/v1/pods?limit=5 HTTP/1.1\r\nHost: x\r\nContent-Type:  application/json "
      "\r\nContent-Length: 4\r\n\r\n{\"a\"next";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    const auto parsed = parse_request(text, piece);
    ASSERT_TRUE(parsed.request) << piece;
    EXPECT_EQ(*parsed.taken, text.size() - 4);
    EXPECT_EQ(parsed.request->method, "POST");
    EXPECT_EQ(parsed.request->target, "/api/v1/pods?limit=5");
    EXPECT_EQ(parsed.request->headers.get("content-type"), "application/json");
    EXPECT_EQ(parsed.request->body, "{\"a\"");
  }
}

TEST(RequestParser, DecodesChunksAndDropsTrailers) {
  const std::string text =
      "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n1;x=y\r\n "
      "\r\nA\r\n0123456789\r\n0\r\nX-T: 1\r\n\r\n";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    const auto parsed = parse_request(text, piece);
    ASSERT_TRUE(parsed.request) << piece;
    EXPECT_EQ(parsed.request->body, "hello 0123456789");
    EXPECT_EQ(*parsed.taken, text.size());
    EXPECT_FALSE(parsed.request->headers.has("X-T"));
  }
}

struct BadRequest {
  std::string name;
  std::string text;
  ErrorCode code = ErrorCode::BadRequest;
};

class RefusedRequests : public ::testing::TestWithParam<BadRequest> {};

TEST_P(RefusedRequests, InOnePieceAndByteByByte) {
  for (const std::size_t piece : {std::size_t{1}, GetParam().text.size()}) {
    const auto parsed =
        parse_request(GetParam().text, piece,
                      {.header_bytes = 300, .header_count = 5, .uri_bytes = 50, .body_bytes = 100});
    ASSERT_FALSE(parsed.taken.has_value()) << GetParam().name;
    EXPECT_EQ(parsed.taken.error().code, GetParam().code) << parsed.taken.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RefusedRequests,
    ::testing::Values(
        BadRequest{"LengthAndChunked",
                   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: "
                   "chunked\r\n\r\n"},
        BadRequest{"TwoLengths",
                   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n"},
        BadRequest{"ListOfLengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 3\r\n\r\n"},
        BadRequest{"SignedLength", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\n"},
        BadRequest{"NegativeLength", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"},
        BadRequest{"HugeLength",
                   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n"},
        BadRequest{"LengthOverTheLimit",
                   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n",
                   ErrorCode::TooLarge},
        BadRequest{"UnknownEncoding",
                   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"},
        BadRequest{"TwoEncodings",
                   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
                   "chunked\r\n\r\n"},
        BadRequest{"ChunkedInHttp10", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
        BadRequest{
            "ChunkSizeWithPrefix",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n"},
        BadRequest{"ChunkSizeNegative",
                   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n"},
        BadRequest{"ChunkSizeTooLong",
                   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                   "chunked\r\n\r\n0000000000000001\r\na\r\n"},
        BadRequest{"ChunkSizeEmpty",
                   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\r\n"},
        BadRequest{"ChunkLongerThanItsSize",
                   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n"},
        BadRequest{"ChunkLineWithBareLineFeed",
                   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\nab\r\n"},
        BadRequest{"ChunksOverTheLimit",
                   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" +
                       std::string(0x65, 'a'),
                   ErrorCode::TooLarge},
        BadRequest{"BareLineFeed", "GET / HTTP/1.1\nHost: x\n\n"},
        BadRequest{"FoldedHeader", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"},
        BadRequest{"BlankBeforeColon", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length : 3\r\n\r\n"},
        BadRequest{"NulInValue",
                   std::string("GET / HTTP/1.1\r\nHost: x\r\nA: b") + '\0' + "\r\n\r\n"},
        BadRequest{"CarriageReturnInValue", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n"},
        BadRequest{"NulInTarget", std::string("GET /a") + '\0' + " HTTP/1.1\r\nHost: x\r\n\r\n"},
        BadRequest{"BlankInTarget", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"},
        BadRequest{"AbsoluteTarget", "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n"},
        BadRequest{"LongTarget", "GET /" + std::string(50, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n",
                   ErrorCode::TooLarge},
        BadRequest{"LongHead",
                   "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(300, 'a') + "\r\n\r\n",
                   ErrorCode::TooLarge},
        BadRequest{"ManyHeaders",
                   "GET / HTTP/1.1\r\nHost: x\r\na:1\r\nb:1\r\nc:1\r\nd:1\r\ne:1\r\n\r\n",
                   ErrorCode::TooLarge},
        BadRequest{"EndlessEmptyLines",
                   [] {
                     std::string text;
                     for (int i = 0; i < 200; ++i) text += "\r\n";
                     return text;
                   }(),
                   ErrorCode::TooLarge},
        BadRequest{"NoHost", "GET / HTTP/1.1\r\n\r\n"},
        BadRequest{"TwoHosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"},
        BadRequest{"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
        BadRequest{"NoVersion", "GET /\r\n\r\n"},
        BadRequest{"MethodWithBrackets", "G[T / HTTP/1.1\r\nHost: x\r\n\r\n"},
        BadRequest{"TlsHello", std::string("\x16\x03\x01\x02\x00\x01\n", 7)}),
    [](const auto& info) { return info.param.name; });

TEST(RequestParser, KnowsWhetherTheConnectionStays) {
  const auto stays = [](std::string_view text) {
    RequestParser parser;
    EXPECT_TRUE(parser.feed(text).has_value());
    return parser.keep_alive();
  };
  EXPECT_TRUE(stays("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_FALSE(stays("GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n"));
  EXPECT_FALSE(stays("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(stays("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

TEST(ResponseParser, SkipsInterimAnswersAndReadsTheBody) {
  ResponseParser parser;
  const std::string text =
      "HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok";
  for (const char byte : text) ASSERT_TRUE(parser.feed({&byte, 1}).has_value());
  ASSERT_TRUE(parser.done());
  EXPECT_EQ(parser.status(), 201);
  EXPECT_FALSE(parser.headers().has("A"));
  EXPECT_EQ(parser.take_body(), "ok");
}

TEST(ResponseParser, StopsAPeerThatSendsInterimAnswersForEver) {
  ResponseParser parser;
  std::string text;
  for (int i = 0; i < 20; ++i) text += "HTTP/1.1 102 Processing\r\n\r\n";
  EXPECT_FALSE(parser.feed(text).has_value());
}

TEST(ResponseParser, TakesAnEndForTheEndOnlyWhereTheHeadAllowsIt) {
  ResponseParser open_end;
  ASSERT_TRUE(open_end.feed("HTTP/1.0 200 OK\r\n\r\nabc").has_value());
  EXPECT_FALSE(open_end.done());
  EXPECT_TRUE(open_end.end_of_stream().has_value());
  EXPECT_TRUE(open_end.done());
  EXPECT_FALSE(open_end.keep_alive());

  for (const std::string_view text :
       {"", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"}) {
    ResponseParser parser;
    ASSERT_TRUE(parser.feed(text).has_value());
    EXPECT_EQ(parser.end_of_stream().error().code, ErrorCode::Unavailable) << text;
  }
}

TEST(ResponseParser, ExpectsNoBodyWhereThereIsNone) {
  ResponseParser head({}, ResponseParser::Body::NoneExpected);
  ASSERT_TRUE(head.feed("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n").has_value());
  EXPECT_TRUE(head.done());
  ResponseParser empty;
  ASSERT_TRUE(empty.feed("HTTP/1.1 204 No Content\r\n\r\n").has_value());
  EXPECT_TRUE(empty.done());
}

TEST(Http1Writer, WritesWhatTheParserReads) {
  std::string out;
  append_request_head(out,
                      {.method = "POST",
                       .target = "/x",
                       .headers = {{"A", "b"}, {"Content-Length", "999"}},
                       .body = "body"},
                      "host:1");
  out += "body";
  const auto parsed = parse_request(out, out.size());
  ASSERT_TRUE(parsed.request);
  EXPECT_EQ(parsed.request->headers.get("host"), "host:1");
  EXPECT_EQ(parsed.request->body, "body");

  std::string answer;
  append_response_head(answer, 200, {{"X", "y"}, {"Bad", "a\r\nInjected: 1"}}, BodyFraming::Chunked,
                       0, true);
  answer.append(chunk_head(5)).append("hello").append(kChunkEnd);
  answer.append(chunk_head(300)).append(std::string(300, 'z')).append(kChunkEnd);
  answer += kLastChunk;
  ResponseParser parser;
  ASSERT_EQ(parser.feed(answer).value(), answer.size());
  ASSERT_TRUE(parser.done());
  EXPECT_EQ(parser.take_body(), "hello" + std::string(300, 'z'));
  EXPECT_EQ(parser.headers().get("X"), "y");
  EXPECT_FALSE(parser.headers().has("Injected"));
}

TEST(CheckSendable, RefusesWhatWouldBecomeAnotherMessage) {
  EXPECT_TRUE(check_sendable({.target = "/a?b=%20"}).has_value());
  EXPECT_FALSE(check_sendable({.target = "/a b"}).has_value());
  EXPECT_FALSE(check_sendable({.target = "a"}).has_value());
  EXPECT_FALSE(check_sendable({.method = "GET /x"}).has_value());
  EXPECT_FALSE(check_sendable({.headers = {{"A:", "b"}}}).has_value());
  const auto secret = check_sendable({.headers = {{"Authorization", "Bearer hunter2\r\nX: y"}}});
  ASSERT_FALSE(secret.has_value());
  EXPECT_EQ(secret.error().message.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace muster::net
