#include "agent/mpi/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/mpi/tally/report.h"

namespace muster::agent::mpi {
namespace {

using ::testing::HasSubstr;

Frame one(FrameReader& reader) {
  auto frame = reader.next();
  EXPECT_TRUE(frame) << frame.error().message;
  EXPECT_TRUE(*frame);
  return **frame;
}

TEST(Frames, AreReadAsTheyWereWritten) {
  const auto bytes = encode_frame(FrameType::Start, "orted --x \"y\"") +
                     encode_frame(FrameType::Ping, "") + encode_frame(FrameType::Exit, "7");
  FrameReader reader;
  reader.feed(bytes);
  EXPECT_EQ(one(reader), (Frame{FrameType::Start, "orted --x \"y\""}));
  EXPECT_EQ(one(reader), (Frame{FrameType::Ping, ""}));
  EXPECT_EQ(one(reader), (Frame{FrameType::Exit, "7"}));
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST(Frames, ComeInAnyPieces) {
  const auto bytes = encode_frame(FrameType::Output, "hello");
  FrameReader reader;
  for (std::size_t at = 0; at + 1 < bytes.size(); ++at) {
    reader.feed(std::string_view(bytes).substr(at, 1));
    ASSERT_EQ(reader.next(), std::nullopt) << at;
  }
  reader.feed(std::string_view(bytes).substr(bytes.size() - 1));
  EXPECT_EQ(one(reader), (Frame{FrameType::Output, "hello"}));
}

TEST(Frames, TheLargestIsTheLongestArgumentThatLinuxTakes) {
  FrameReader reader;
  reader.feed(encode_frame(FrameType::Start, std::string(kMaxPayloadBytes, 'x')));
  EXPECT_EQ(one(reader).payload.size(), 131071U);
}

Error refused(std::string_view bytes) {
  FrameReader reader;
  reader.feed(bytes);
  const auto frame = reader.next();
  EXPECT_FALSE(frame);
  EXPECT_FALSE(reader.next()) << "an error stays";
  return frame ? Error{} : frame.error();
}

TEST(Frames, WhatCannotBeOneIsAnErrorAtItsHeader) {
  using std::string_literals::operator""s;
  EXPECT_THAT(refused("\2\1\0\0\0\0\0\0"s).message,
              HasSubstr("the peer speaks version 2 of this protocol, not 1"));
  EXPECT_EQ(refused("\1\0\0\0\0\0\0\0"s).code, ErrorCode::Parse);
  EXPECT_EQ(refused("\1\11\0\0\0\0\0\0"s).code, ErrorCode::Parse);
  EXPECT_EQ(refused("\1\1\1\0\0\0\0\0"s).code, ErrorCode::Parse);
  EXPECT_EQ(refused("\1\1\0\0\0\2\0\0"s).code, ErrorCode::TooLarge);
  EXPECT_EQ(refused("GET / HTTP/1.1\r\n").code, ErrorCode::Parse);
}

TEST(Frames, ExitCodes) {
  EXPECT_EQ(decode_exit("0"), 0);
  EXPECT_EQ(decode_exit("255"), 255);
  for (const auto* wrong : {"", "-1", "256", "x", "1 "})
    EXPECT_EQ(decode_exit(wrong), std::nullopt);
}

TEST(RankReports, AreReadAsTheyWereWritten) {
  const RankReport started{.number = 7, .session = "s", .host = "w-0", .rank = 3};
  EXPECT_EQ(encode_report(started), "7 s w-0 3 -");
  EXPECT_EQ(decode_report(encode_report(started)), started);
  const RankReport ended{.rank = 0, .code = 137};
  EXPECT_EQ(encode_report(ended), "0 - - 0 137");
  EXPECT_EQ(decode_report(encode_report(ended)), ended);
}

TEST(RankReports, WhatIsNoneIsNone) {
  for (const auto* wrong :
       {"", "1 s h 0", "1 s h 0 0 0", "x s h 0 0", "-1 s h 0 0", "1 s h -1 0", "1 s h 0 256",
        "1 s h 0 x", "1  h 0 0", "1 s h\n 0 0", "1 s h 99999999 0"}) {
    EXPECT_EQ(decode_report(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace muster::agent::mpi
