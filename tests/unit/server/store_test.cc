#include "server/store/store.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fd.h"
#include "base/random.h"
#include "base/strings.h"
#include "home.h"
#include "json/write.h"
#include "rt/real_loop.h"
#include "support.h"

namespace muster::server {
namespace {

ObjectPtr text_object(std::string_view text) {
  json::Value value;
  value["text"] = text;
  return std::make_shared<const json::Value>(std::move(value));
}

Change change(Version version, std::string key, std::string_view text,
              ChangeType type = ChangeType::Updated) {
  return {.version = version,
          .key = std::move(key),
          .type = type,
          .object = text_object(text),
          .previous = 0,
          .time = SystemClock().now()};
}

// Opens, works, closes: the life of one process.
class Session {
 public:
  explicit Session(const std::string& home) : pool_(1) {
    auto opened = Store::open({.loop = loop_, .pool = &pool_, .home = home});
    EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
    store_ = std::move(*opened);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { loop_.run(store_->close()); }

  Store& store() { return *store_; }
  Result<void> write(Change what) {
    const Version version = what.version;
    store_->append(std::move(what));
    return loop_.run(store_->durable(version));
  }
  rt::RealLoop& loop() { return loop_; }

 private:
  rt::RealLoop loop_;
  rt::Pool pool_;
  std::unique_ptr<Store> store_;
};

Result<Contents> reopen(const std::string& home) {
  rt::RealLoop loop;
  rt::Pool pool(1);
  auto store = Store::open({.loop = loop, .pool = &pool, .home = home});
  if (!store) return fail(store.error());
  Contents contents = (*store)->take_contents();
  loop.run((*store)->close());
  return contents;
}

void run_sql(const std::string& file, const std::string& text) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

// Without the room that is kept behind them.
std::size_t pages_of(const std::string& file) {
  sqlite3* database = nullptr;
  sqlite3_stmt* count = nullptr;
  EXPECT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_prepare_v2(database, "PRAGMA page_count", -1, &count, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_step(count), SQLITE_ROW);
  const auto pages = static_cast<std::size_t>(sqlite3_column_int64(count, 0));
  sqlite3_finalize(count);
  sqlite3_close(database);
  return pages;
}

TEST(Store, KeepsWhatWasWritten) {
  const Home home;
  {
    Session session(home.path());
    EXPECT_TRUE(session.write(change(1, "a//x", "one", ChangeType::Created)));
    EXPECT_TRUE(session.write(change(2, "a//y", "two", ChangeType::Created)));
    EXPECT_TRUE(session.write(change(3, "a//x", "three")));
    EXPECT_TRUE(session.write(change(4, "a//y", "gone", ChangeType::Deleted)));
  }
  const auto contents = reopen(home.path());
  ASSERT_TRUE(contents) << contents.error().message;
  EXPECT_EQ(contents->version, 4U);
  ASSERT_EQ(contents->objects.size(), 1U);
  EXPECT_EQ(contents->objects[0].key, "a//x");
  EXPECT_EQ((*contents->objects[0].object)["text"].as_string(), "three");
  ASSERT_EQ(contents->log.size(), 4U);
  EXPECT_EQ(contents->log[3].type, ChangeType::Deleted);
}

TEST(Store, IsForItsOwnerAlone) {
  const Home home;
  const Session session(home.path());
  struct stat status{};
  ASSERT_EQ(::stat(home.file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  const auto second = reopen(home.path());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(fmt::format("process {}", ::getpid())), std::string::npos)
      << second.error().message;
}

TEST(Store, ItsLockIsHandedOnAndLetGoWithTheLastOfThem) {
  const Home home;
  auto first = HomeLock::take(home.path());
  ASSERT_TRUE(first);
  EXPECT_FALSE(HomeLock::take(home.path()));
  auto second = first->share();
  ASSERT_TRUE(second);
  {
    const HomeLock gone = std::move(*first);
  }
  EXPECT_FALSE(HomeLock::take(home.path()));
  {
    const std::string path = home.path() + "/lock";
    std::ofstream(path) << "1\n";  // whoever handed it to us
    const auto adopted = HomeLock::adopt(home.path(), ::dup(second->descriptor()));
    EXPECT_TRUE(adopted);
    std::string owner;
    std::getline(std::ifstream(path), owner);
    EXPECT_EQ(owner, std::to_string(::getpid()));
    const HomeLock gone = std::move(*second);
  }
  EXPECT_TRUE(HomeLock::take(home.path()));
}

TEST(Store, AnotherFileIsNoLock) {
  const Home home;
  ASSERT_TRUE(HomeLock::take(home.path()));
  const std::string path = home.path() + "/data";
  const Fd other(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(other.get(), "data", 4), 4);
  const auto adopted = HomeLock::adopt(home.path(), other.get());
  ASSERT_FALSE(adopted);
  EXPECT_EQ(adopted.error().code, ErrorCode::BadRequest);
  struct stat status{};
  ASSERT_EQ(::fstat(other.get(), &status), 0) << "it is still open";
  EXPECT_EQ(status.st_size, 4);
}

TEST(Store, ASnapshotReadsAndLetsGo) {
  const Home home;
  {
    Session session(home.path());
    EXPECT_TRUE(session.write(change(1, "a//x", "one", ChangeType::Created)));
  }
  rt::RealLoop loop;
  rt::Pool pool(1);
  auto looking = Store::open({.loop = loop, .pool = &pool, .home = home.path(), .snapshot = true});
  ASSERT_TRUE(looking) << looking.error().message;
  EXPECT_EQ((*looking)->take_contents().objects.size(), 1U);
  {
    Session owner(home.path());  // nobody holds the home
    (*looking)->append(change(2, "a//y", "two", ChangeType::Created));
    EXPECT_TRUE(loop.run((*looking)->durable(2)));
  }
  loop.run((*looking)->close());
  EXPECT_EQ(reopen(home.path())->objects.size(), 1U);
}

// As a process that was killed leaves it: nothing was tidied up at the end.
void copy_home(const std::string& from, const std::string& to) {
  for (const char* name : {"/store.db", "/store.db-wal"}) {
    std::filesystem::copy_file(from + name, to + name);
  }
}

TEST(Store, TheStartReadsOnlyTheNewestOfTheLogAndACleanEndLeavesNoMore) {
  const Home home;
  const Home killed;
  {
    Session session(home.path());
    for (Version version = 1; version <= 1'000; ++version) {
      session.store().append(change(version, "a//x", "x"));
    }
    EXPECT_TRUE(session.loop().run(session.store().durable(1'000)));
    copy_home(home.path(), killed.path());
  }
  for (const Home* of : {&home, &killed}) {
    const auto contents = reopen(of->path());
    ASSERT_TRUE(contents);
    EXPECT_EQ(contents->trimmed, of == &home ? contents->log_floor : 0U);
    EXPECT_EQ(contents->log_floor, 872U);
    EXPECT_EQ(contents->log.front().version, 873U);
    EXPECT_EQ(contents->log.back().version, 1'000U);
  }
}

std::uint64_t commits_of(Version changes) {
  const Home home;
  Session session(home.path());
  for (Version version = 1; version <= changes; ++version) {
    session.store().append(
        change(version, fmt::format("a//{}", version), "x", ChangeType::Created));
  }
  EXPECT_TRUE(session.loop().run(session.store().durable(changes)));
  return session.store().commits();
}

TEST(Store, WhatIsQueuedTogetherIsCommittedTogether) {
  EXPECT_EQ(commits_of(20), 1U);
}

TEST(Store, OfManyTheFirstAreCommittedWhileTheOthersAreMade) {
  EXPECT_EQ(commits_of(100), 2U);
}

// A number that the file of a home holds, read from a copy: whoever writes it has it for itself.
Version number_in(const Home& home, const std::string& query) {
  const Home copy;
  copy_home(home.path(), copy.path());
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(copy.file().c_str(), &database), SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW) << query;
  const auto number = static_cast<Version>(sqlite3_column_int64(statement, 0));
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return number;
}

// Looked at while the store works: a clean end and a start shorten the log by themselves.
TEST(Store, TheLogIsTrimmedAndSaysUpToWhere) {
  constexpr Version kAtOnce = 500;
  constexpr Version kNewest = Store::kLogVersions + 2 * kAtOnce;
  const Home home;
  const Home killed;
  Version floor = 0;
  {
    Session session(home.path());
    for (Version version = 1; version <= kNewest; ++version) {
      session.store().append(change(version, "a//x", "x"));
      if (version % kAtOnce != 0) continue;
      ASSERT_TRUE(session.loop().run(session.store().durable(version)));
      floor = number_in(home, "SELECT value FROM meta WHERE name='log_floor'");
      EXPECT_EQ(number_in(home, "SELECT min(rv) FROM log"), floor + 1);
      EXPECT_EQ(number_in(home, "SELECT count(*) FROM log"), version - floor);
      EXPECT_LE(floor, version - std::min(version, Store::kLogVersions)) << "too much is gone";
    }
    EXPECT_GE(floor, kNewest - Store::kLogVersions - kAtOnce) << "too much is there";
    copy_home(home.path(), killed.path());
  }
  const auto contents = reopen(killed.path());
  ASSERT_TRUE(contents);
  EXPECT_EQ(contents->version, kNewest);
  EXPECT_EQ(contents->trimmed, floor);
}

TEST(Store, TheLogIsBoundedByItsBytes) {
  constexpr Version kNewest = 40;
  constexpr std::int64_t kMiB = std::int64_t{1} << 20U;
  const std::string large(kMiB, 'x');
  const Home home;
  Session session(home.path());
  for (Version version = 1; version <= kNewest; ++version) {
    ASSERT_TRUE(session.write(change(version, "a//x", large)));
    if (version % 13 != 0) continue;
    const auto bytes = number_in(home, "SELECT coalesce(sum(length(json)),0) FROM log");
    EXPECT_LE(bytes, static_cast<std::uint64_t>(Store::kLogBytes + 2 * kMiB));
    EXPECT_GE(bytes, static_cast<std::uint64_t>(Store::kLogBytes / 2 - 2 * kMiB));
  }
}

TEST(Store, AChangedValueIsNoticed) {
  const Home home;
  {
    Session session(home.path());
    EXPECT_TRUE(session.write(change(1, "a//x", "one", ChangeType::Created)));
  }
  for (const char* table : {"objects", "log"}) {
    run_sql(home.file(), fmt::format("UPDATE {} SET json=replace(json,'one','two')", table));
    const auto contents = reopen(home.path());
    ASSERT_FALSE(contents) << table;
    EXPECT_NE(contents.error().message.find("is corrupt: the checksum of a//x"), std::string::npos)
        << contents.error().message;
    run_sql(home.file(), fmt::format("UPDATE {} SET json=replace(json,'two','one')", table));
    ASSERT_TRUE(reopen(home.path()));
  }
}

std::string all_of(const Contents& contents) {
  std::string text = fmt::format("{} after {}\n", contents.version, contents.log_floor);
  for (const auto* changes : {&contents.objects, &contents.log}) {
    for (const Change& one : *changes) {
      text += fmt::format("{} {} {}\n", one.version, one.key, json::write(*one.object));
    }
  }
  return text;
}

// Each page in its turn: of the log, of the objects, and pages where nothing is any more.
TEST(Store, ADamagedPageIsNoticedOrDoesNotMatter) {
  const Home home;
  {
    Session session(home.path());
    for (Version version = 1; version <= 200; ++version) {
      session.store().append(change(version, fmt::format("a//{}", version), std::string(500, 'x'),
                                    ChangeType::Created));
    }
  }
  const std::string whole = all_of(*reopen(home.path()));
  const std::string noise(4096, '\x5a');
  const auto pages = pages_of(home.file());
  unsigned noticed = 0;
  for (std::size_t page = 0; page < pages; ++page) {
    const Home damaged;
    std::filesystem::copy_file(home.file(), damaged.file());
    const Fd file(::open(damaged.file().c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(
        ::pwrite(file.get(), noise.data(), noise.size(), static_cast<off_t>(page * noise.size())),
        4096);
    const auto contents = reopen(damaged.path());
    if (contents) {
      EXPECT_EQ(all_of(*contents), whole) << "page " << page;
      continue;
    }
    ++noticed;
    EXPECT_NE(contents.error().message.find("corrupt"), std::string::npos)
        << contents.error().message;
    EXPECT_NE(contents.error().message.find(damaged.file()), std::string::npos);
  }
  EXPECT_GT(noticed, pages / 2);
}

TEST(Store, ANewerSchemaIsRefused) {
  const Home home;
  {
    const Session session(home.path());
  }
  run_sql(home.file(), "UPDATE meta SET value=99 WHERE name='schema'");
  EXPECT_NE(reopen(home.path()).error().message.find("schema 99"), std::string::npos);
}

// A file size limit makes write() fail as a full or broken disk would.
TEST(Store, AFailedWriteStopsEverything) {
  const Home home;
  Session session(home.path());
  EXPECT_TRUE(session.write(change(1, "a//x", "one", ChangeType::Created)));
  std::optional<Error> told;
  session.store().on_failure([&told](const Error& error) { told = error; });

  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tiny{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tiny), 0);
  const auto failed =
      session.write(change(2, "a//y", std::string(100'000, 'y'), ChangeType::Created));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);

  ASSERT_FALSE(failed);
  EXPECT_TRUE(told.has_value());
  EXPECT_FALSE(session.write(change(3, "a//z", "z", ChangeType::Created)))
      << "the disk is fine again, but nobody knows what it has";
  EXPECT_EQ(session.store().committed(), 1U);
}

// The child writes one object after the other and says so on a pipe after each acknowledgement.
[[noreturn]] void write_until_killed(const std::string& home, int pipe) {
  rt::RealLoop loop;
  rt::Pool pool(1);
  auto store = Store::open({.loop = loop, .pool = &pool, .home = home});
  if (!store) ::_exit(3);
  Version version = (*store)->take_contents().version;
  for (int round = 0;; ++round) {
    const int batch = 1 + (round % 5);
    std::string lines;
    for (int i = 0; i < batch; ++i) {
      ++version;
      const std::string key = fmt::format("a//{}", version % 50);
      (*store)->append(change(version, key, fmt::format("v{}", version)));
      lines += fmt::format("{}\n", version);
    }
    if (!loop.run((*store)->durable(version))) ::_exit(4);
    if (::write(pipe, lines.data(), lines.size()) < 0) ::_exit(5);
  }
}

TEST(Store, NothingAcknowledgedIsLostWhenKilled) {
  const Home home;
  SeededRng rng(11);
  Version acknowledged = 0;
  for (int kill = 0; kill < 12; ++kill) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_until_killed(home.path(), ends[1]);
    ::close(ends[1]);
    std::string text;
    const std::size_t enough = 20 + rng.below(400);
    char buffer[512];
    while (text.size() < enough) {
      const ssize_t count = ::read(ends[0], buffer, sizeof buffer);
      ASSERT_GT(count, 0);
      text.append(buffer, static_cast<std::size_t>(count));
    }
    ::kill(child, SIGKILL);
    ssize_t count = 0;
    while ((count = ::read(ends[0], buffer, sizeof buffer)) > 0) {
      text.append(buffer, static_cast<std::size_t>(count));
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;

    for (const auto line : split(text, '\n')) {
      if (line.empty()) continue;
      const auto version = static_cast<Version>(parse_int(line).value_or(0));
      ASSERT_GT(version, acknowledged) << "a version was given twice";
      acknowledged = version;
    }
    const auto contents = reopen(home.path());
    ASSERT_TRUE(contents) << contents.error().message;
    ASSERT_GE(contents->version, acknowledged);
    std::map<std::string, std::string> objects;
    for (const Change& object : contents->objects) {
      objects[object.key] = (*object.object)["text"].as_string();
    }
    const Version last = contents->version;
    for (Version version = last > 50 ? last - 49 : 1; version <= last; ++version) {
      ASSERT_EQ(objects[fmt::format("a//{}", version % 50)], fmt::format("v{}", version));
    }
    acknowledged = last;  // what is in the file may be seen by readers: it is not given again
  }
}

}  // namespace
}  // namespace muster::server
