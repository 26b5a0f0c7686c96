#include "trainer/messages.h"

#include <gtest/gtest.h>

#include "trainer/line_reader.h"

namespace muster::trainer {
namespace {

const Endpoint kEndpoint{.address = "10.0.0.7", .port = 41234};

TEST(MessagesTest, RegistrationSurvivesTheWire) {
  const Registration sent{.node_id = "job-worker-2",
                          .endpoint = kEndpoint,
                          .digest = 0xfedcba9876543210,
                          .steps = {50, 100}};
  const auto parsed = parse_worker_message(encode(sent));
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto& received = std::get<Registration>(*parsed);
  EXPECT_EQ(received.node_id, sent.node_id);
  EXPECT_EQ(received.endpoint, sent.endpoint);
  EXPECT_EQ(received.digest, sent.digest);
  EXPECT_EQ(received.steps, sent.steps);
}

TEST(MessagesTest, RegistrationWithoutCheckpoints) {
  const auto parsed = parse_worker_message(
      encode(Registration{.node_id = "w-0", .endpoint = kEndpoint, .digest = 1, .steps = {}}));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_TRUE(std::get<Registration>(*parsed).steps.empty());
}

TEST(MessagesTest, StartSurvivesTheWire) {
  const Start sent{.generation = 3,
                   .session = 0xabcdef,
                   .rank = 1,
                   .resume_step = 150,
                   .peers = {{"w-0", {"10.0.0.1", 1}}, {"w-1", {"10.0.0.2", 65535}}}};
  const auto parsed = parse_scheduler_message(encode(sent));
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto& received = std::get<Start>(*parsed);
  EXPECT_EQ(received.generation, 3u);
  EXPECT_EQ(received.session, 0xabcdefu);
  EXPECT_EQ(received.rank, 1u);
  EXPECT_EQ(received.resume_step, 150u);
  ASSERT_EQ(received.peers.size(), 2u);
  EXPECT_EQ(received.peers[1].node_id, "w-1");
  EXPECT_EQ(received.peers[1].endpoint, (Endpoint{"10.0.0.2", 65535}));
}

TEST(MessagesTest, ShortMessagesSurviveTheWire) {
  EXPECT_EQ(std::get<Done>(*parse_worker_message(encode(Done{7}))).generation, 7u);
  EXPECT_EQ(std::get<Lost>(*parse_scheduler_message(encode(Lost{"w-3"}))).node_id, "w-3");
  EXPECT_TRUE(std::holds_alternative<Finished>(*parse_scheduler_message(encode(Finished{}))));
  EXPECT_EQ(std::get<Rejected>(*parse_scheduler_message(encode(Rejected{"too many"}))).reason,
            "too many");
}

TEST(MessagesTest, RejectedReasonCannotCarryControlCharacters) {
  EXPECT_EQ(encode(Rejected{"a\nb\x1b[31m"}), "reject a?b?[31m");
  EXPECT_EQ(std::get<Rejected>(*parse_scheduler_message("reject a\x1b[31m")).reason, "a?[31m");
}

TEST(MessagesTest, WorkerLinesThatAreRefused) {
  for (const char* line : {
           "",
           "hello",
           "register",
           "register 2 w-0 10.0.0.7:1 ff -",          // another version
           "register 1 w/0 10.0.0.7:1 ff -",          // not a node id
           "register 1 w-0 example.org:1 ff -",       // not an address
           "register 1 w-0 10.0.0.7:0 ff -",          // port 0
           "register 1 w-0 10.0.0.7:65536 ff -",      // no such port
           "register 1 w-0 10.0.0.7:1 xyz -",         // not hexadecimal
           "register 1 w-0 10.0.0.7:1 ff 1,,2",       // an empty step
           "register 1 w-0 10.0.0.7:1 ff 1000001",    // beyond any run
           "register 1 w-0 10.0.0.7:1 ff -1",         // negative
           "register 1 w-0 10.0.0.7:1 ff - surplus",  // a word too many
           "register 1 w-0 10.0.0.7:1 ff 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
           "done",
           "done x",
           "done 1 2",
       }) {
    EXPECT_FALSE(parse_worker_message(line)) << line;
  }
}

TEST(MessagesTest, SchedulerLinesThatAreRefused) {
  for (const char* line : {
           "",
           "start",
           "start 1 ff 0 0",
           "start 1 ff 1 0 w-0=10.0.0.1:1",        // rank beyond the table
           "start 1 ff 0 1000001 w-0=10.0.0.1:1",  // step beyond any run
           "start 1 ff 0 0 w-0",
           "start 1 ff 0 0 =10.0.0.1:1",
           "start 1 ff 0 0 w-0=10.0.0.1",
           "start 1 ff 0 0 w-0=10.0.0.1:1,",
           "start x ff 0 0 w-0=10.0.0.1:1",
           "finished now",
           "lost",
           "lost a b",
           "lost ../x",
           "reject",
       }) {
    EXPECT_FALSE(parse_scheduler_message(line)) << line;
  }
}

TEST(LineReaderTest, CutsLinesWhereverTheBytesWereCut) {
  LineReader reader(100);
  reader.add("fir");
  EXPECT_FALSE(reader.next());
  reader.add("st\nsecond\nth");
  EXPECT_EQ(reader.next(), "first");
  EXPECT_EQ(reader.next(), "second");
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.is_overrun());
}

TEST(LineReaderTest, ALongLineIsAnOverrunWithAndWithoutItsEnd) {
  LineReader without_end(4);
  without_end.add("12345");
  EXPECT_FALSE(without_end.next());
  EXPECT_TRUE(without_end.is_overrun());

  LineReader with_end(4);
  with_end.add("12345\n");
  EXPECT_FALSE(with_end.next());
  EXPECT_TRUE(with_end.is_overrun());

  LineReader exact(4);
  exact.add("1234\n");
  EXPECT_EQ(exact.next(), "1234");
}

}  // namespace
}  // namespace muster::trainer
