#include "cli/logs/file_log.h"

#include "log_files.h"

namespace muster::cli {
namespace {

class FileLogTest : public LogFiles {
 protected:
  static std::string all_of(FileLog& log) {
    std::string text;
    while (true) {
      const auto pieces = log.read();
      EXPECT_TRUE(pieces) << pieces.error().message;
      if (!pieces || pieces->empty()) return text;
      for (const LogPiece& piece : *pieces) text += piece.bytes;
    }
  }
  FileLog log(int attempt = 0, LogWindow window = {}) {
    return {pod_directory("ml_p_u"), "main", attempt, window};
  }
  void write(const std::string& bytes, int attempt = 0) {
    append("ml_p_u", "main/" + std::to_string(attempt) + ".log", bytes);
  }
  void rotate() {
    const std::string path = pod_directory("ml_p_u") + "/main/0.log";
    std::filesystem::rename(path, path + ".1");
  }
};

TEST_F(FileLogTest, GivesBytesAsTheyWereWritten) {
  FileLog reader = log();
  EXPECT_EQ(all_of(reader), "") << "there is no file yet";
  write(record(1, "a\r") + record(2, "half", 'P') + record(3, " and half", 'F') +
        record(4, "\xff\xfe", 'F', "stderr"));
  EXPECT_EQ(all_of(reader), "a\r\nhalf and half\n\xff\xfe\n");
  write(record(5, "unfinished", 'P'));
  EXPECT_EQ(all_of(reader), "unfinished");
}

TEST_F(FileLogTest, APieceHasTheTimeOfItsLine) {
  FileLog reader = log();
  write(record(1, "half", 'P') + record(2, "between", 'F', "stderr") + record(3, "half", 'F'));
  const auto pieces = reader.read();
  ASSERT_EQ(pieces->size(), 3U);
  EXPECT_EQ((*pieces)[2].time, "2026-11-15T03:04:01.000000000Z");
  EXPECT_EQ((*pieces)[2].at, *parse_time("2026-11-15T03:04:01Z"));
}

TEST_F(FileLogTest, ATornRecordWaitsForItsRest) {
  FileLog reader = log();
  const std::string line = record(1, "whole");
  write(line.substr(0, 20));
  EXPECT_EQ(all_of(reader), "");
  write(line.substr(20));
  EXPECT_EQ(all_of(reader), "whole\n");
}

TEST_F(FileLogTest, ReadsBothHalvesAndThroughEveryRotation) {
  write(record(1, "one"));
  rotate();
  write(record(2, "two"));
  FileLog reader = log();
  EXPECT_EQ(all_of(reader), "one\ntwo\n");
  write(record(3, "three"));
  rotate();
  write(record(4, "four"));
  EXPECT_EQ(all_of(reader), "three\nfour\n");
}

TEST_F(FileLogTest, ARotationWhileTheOlderHalfIsReadLosesNothing) {
  write(record(1, std::string(5000, 'a')));
  rotate();
  write(record(2, "two"));
  FileLog reader = log();
  reader.limit_window(100);
  ASSERT_TRUE(reader.read());  // some of the older half... and all of it: a record is whole
  rotate();
  write(record(3, "three"));
  EXPECT_THAT(all_of(reader), ::testing::EndsWith("two\nthree\n"));
}

TEST_F(FileLogTest, GoesOnWithTheNextRunOfTheContainer) {
  write(record(1, "first"), 0);
  FileLog reader = log();
  EXPECT_EQ(all_of(reader), "first\n");
  reader.see({.attempt = 2, .started = true});
  write(record(2, "second"), 1);
  write(record(3, "third"), 2);
  EXPECT_EQ(all_of(reader), "second\nthird\n");
  EXPECT_FALSE(reader.over());
  reader.see({.attempt = 2, .started = true, .over = true});
  EXPECT_TRUE(reader.over());
}

TEST_F(FileLogTest, ALineThatARunDidNotEndEndsWithIt) {
  write(record(1, "loss 0.5", 'P') + record(1, "Killed", 'P', "stderr"), 0);
  FileLog reader = log();
  EXPECT_EQ(all_of(reader), "loss 0.5Killed");
  reader.see({.attempt = 1, .started = true});
  write(record(2, "second"), 1);
  const auto ends = reader.read();
  ASSERT_EQ(ends->size(), 2U);
  EXPECT_EQ((*ends)[0].bytes, "\n");
  EXPECT_EQ((*ends)[1].bytes, "\n");
  EXPECT_TRUE((*ends)[1].error);
  const auto next = reader.read();
  ASSERT_EQ(next->size(), 1U);
  EXPECT_EQ((*next)[0].bytes, "second\n");
  EXPECT_EQ((*next)[0].time, "2026-11-15T03:04:02.000000000Z");
}

TEST_F(FileLogTest, TheTailGoesBackIntoTheOlderHalf) {
  write(record(1, "one") + record(2, "two") + record(3, "three"));
  rotate();
  write(record(4, "four") + record(5, "five"));
  for (const auto& [lines, text] :
       std::map<int, std::string>{{0, ""},
                                  {1, "five\n"},
                                  {2, "four\nfive\n"},
                                  {3, "three\nfour\nfive\n"},
                                  {9, "one\ntwo\nthree\nfour\nfive\n"}}) {
    FileLog reader = log(0, {.tail = lines});
    EXPECT_EQ(all_of(reader), text) << lines;
  }
  FileLog reader = log(0, {.tail = 1});
  EXPECT_EQ(all_of(reader), "five\n");
  write(record(6, "six") + record(7, "seven"));
  EXPECT_EQ(all_of(reader), "six\nseven\n") << "all that comes";
}

TEST_F(FileLogTest, SinceLeavesOutWhatIsOlder) {
  write(record(1, "one") + record(2, "two") + record(3, "three"));
  FileLog reader = log(0, {.since = *parse_time("2026-11-15T03:04:02Z")});
  EXPECT_EQ(all_of(reader), "two\nthree\n");
}

}  // namespace
}  // namespace muster::cli
