#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/fd.h"
#include "machine.h"
#include "node/linux/process.h"
#include "node/runtime/unknown_pod.h"
#include "node/shim/protocol.h"

// Pods of other versions of Muster, and pods that cannot be understood.
namespace muster::node {
namespace {

using namespace std::chrono_literals;

class UnknownPodTest : public RuntimeTest {
 protected:
  // The runtime that started the shims is gone, and this process still their parent.
  void TearDown() override {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    RuntimeTest::TearDown();
  }
  linux::ProcessIdentity start_sleep(const std::string& uid) {
    return linux::identity_of(start(uid, container({"sleep", "1000"})).pid);
  }
  [[nodiscard]] std::string file(const std::string& uid, const std::string& name) const {
    return state() + "/" + uid + "/" + name;
  }
  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  AdoptedSandbox adopt_one() {
    auto found = run(runtime_->adopt());
    EXPECT_TRUE(found) << found.error().message;
    if (!found || found->size() != 1) {
      ADD_FAILURE() << "pods found: " << (found ? found->size() : 0);
      return {};
    }
    return found->front();
  }
};

TEST_F(UnknownPodTest, APodWithADamagedRecordIsUnknownAndEndedByItsRemoval) {
  open_runtime();
  ASSERT_TRUE(run(runtime_->adopt()));
  const auto sandbox = pod("a");
  const auto process = start_sleep("a");
  close_runtime();
  write(file("a", "sandbox"), "not a record");
  open_runtime();
  const auto adopted = adopt_one();
  EXPECT_EQ(adopted.sandbox.pod_uid, "a");
  EXPECT_NE(adopted.unknown.find(state() + "/a"), std::string::npos) << adopted.unknown;
  EXPECT_FALSE(adopted.alive);
  EXPECT_TRUE(linux::is_alive(process)) << "nobody asked for its end";
  EXPECT_EQ(run(runtime_->create_sandbox({.pod_uid = "a"}, {})).error().code, ErrorCode::Conflict);
  EXPECT_NE(pod("b").address, sandbox.address) << "its address is its own";
  remove("b");
  remove("a");
  EXPECT_FALSE(linux::is_alive(process));
  EXPECT_FALSE(std::filesystem::exists(file("a", "")));
}

TEST_F(UnknownPodTest, ItsShimIsFoundWithoutItsIdentity) {
  open_runtime();
  ASSERT_TRUE(run(runtime_->adopt()));
  pod("a");
  const auto process = start_sleep("a");
  close_runtime();
  write(file("a", "sandbox"), "not a record");
  write(file("a", "shim"), "nor an identity");
  open_runtime();
  EXPECT_FALSE(adopt_one().unknown.empty());
  remove("a");
  EXPECT_FALSE(linux::is_alive(process));
}

TEST_F(UnknownPodTest, ARecordOfALaterVersionIsUnknown) {
  open_runtime();
  ASSERT_TRUE(run(runtime_->adopt()));
  pod("a");
  const auto process = start_sleep("a");
  close_runtime();
  const auto record = read_text(file("a", "sandbox"));
  write(file("a", "sandbox"), shim::with_version(record.substr(8), shim::kWireVersion + 1));
  open_runtime();
  const auto adopted = adopt_one();
  EXPECT_NE(adopted.unknown.find("version"), std::string::npos) << adopted.unknown;
  EXPECT_TRUE(linux::is_alive(process));
  close_runtime();
  // Read by who can, it is what it was.
  write(file("a", "sandbox"), record);
  open_runtime();
  const auto again = adopt_one();
  EXPECT_TRUE(again.alive);
  EXPECT_TRUE(again.unknown.empty());
  EXPECT_TRUE(linux::is_alive(process));
  remove("a");
}

TEST_F(UnknownPodTest, ADamagedRecordWithoutAShimIsNothing) {
  open_runtime();
  ASSERT_TRUE(run(runtime_->adopt()));
  std::filesystem::create_directories(file("a", ""));
  write(file("a", "sandbox"), "not a record");
  const auto found = run(runtime_->adopt());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->empty());
  EXPECT_FALSE(std::filesystem::exists(file("a", "")));
}

TEST(LocalAddresses, AreThoseOfTheNamespace) {
  constexpr std::string_view kTrie = R"(Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.222.0.0/22 2 0 2
        |-- 10.222.0.0
           /22 link UNICAST
        |-- 10.222.0.5
           /32 host LOCAL
        |-- 10.222.3.255
           /32 link BROADCAST
Local:
     |-- 10.222.0.5
        /32 host LOCAL
     |-- 127.0.0.1
        /32 host LOCAL
)";
  EXPECT_EQ(local_addresses(kTrie), (std::vector<std::uint32_t>{0x0ade0005, 0x7f000001}));
  EXPECT_TRUE(local_addresses("").empty());
}

// --- the shims of before there were versions

// A record as a shim of version 0 or its Muster wrote it.
template <class T>
std::string version_0(const T& value) {
  shim::Writer out(0);
  write(out, value);
  return out.bytes();
}

// The shim of a pod as version 0 spoke: has the lock, and answers requests that have no version.
class OldShim {
 public:
  explicit OldShim(const std::string& directory) {
    lock_ = Fd(::open((directory + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(::flock(lock_.get(), LOCK_EX | LOCK_NB), 0);
    listener_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (directory + "/control").c_str());
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    thread_ = std::thread([this] { serve(); });
  }
  OldShim(const OldShim&) = delete;
  OldShim& operator=(const OldShim&) = delete;
  ~OldShim() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }

 private:
  void serve() {
    while (true) {
      const Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.valid()) return;
      std::string buffer;
      char chunk[4096];
      while (true) {
        const auto got = ::read(client.get(), chunk, sizeof chunk);
        if (got <= 0) break;
        buffer.append(chunk, static_cast<std::size_t>(got));
        const auto request = shim::take_frame(buffer);
        if (!request || !*request) continue;
        const auto reply = shim::frame(answer(**request));
        if (::write(client.get(), reply.data(), reply.size()) < 0) break;
        break;
      }
    }
  }
  static std::string answer(const std::string& request) {
    shim::Reader in(request, 0);
    shim::Writer out;
    switch (static_cast<shim::Operation>(in.number())) {
      case shim::Operation::List:
        out.number(0);
        shim::write_all(out, std::vector<AdoptedContainer>{{.name = "main", .attempt = 2}});
        return out.bytes();
      case shim::Operation::Wait:
        return out.number(0).bytes() + version_0(ContainerExit{.exit_code = 7});
      case shim::Operation::Start: {
        ContainerSpec spec;
        read(in, spec);
        if (!in.finished()) break;
        return out.number(0).number(1).number(4711).number(5).text("/log/" + spec.name).bytes();
      }
      default:
        break;
    }
    return out.number(static_cast<std::int64_t>(ErrorCode::BadRequest) + 1)
        .text("unknown request")
        .bytes();
  }

  Fd lock_;
  Fd listener_;
  std::thread thread_;
};

TEST_F(UnknownPodTest, AShimWithoutAVersionIsAdopted) {
  open_runtime();
  ASSERT_TRUE(run(runtime_->adopt()));
  close_runtime();
  const auto directory = home_ + "/pods/a";
  std::filesystem::create_directories(directory);
  shim::SandboxRecord record;
  record.spec = {.pod_uid = "a", .pod_namespace = "default", .pod_name = "pod-a"};
  record.address = "10.222.0.9";
  record.link = "mst000000000000";
  write(directory + "/sandbox", version_0(record));
  write(directory + "/shim", version_0(linux::ProcessIdentity{.pid = 1, .boot_id = "another"}));
  {
    const OldShim old(directory);
    open_runtime();
    const auto adopted = adopt_one();
    EXPECT_TRUE(adopted.alive) << adopted.unknown;
    EXPECT_EQ(adopted.pod_name, "pod-a");
    EXPECT_EQ(adopted.sandbox.address, "10.222.0.9");
    ASSERT_EQ(adopted.containers.size(), 1U);
    EXPECT_EQ(adopted.containers[0].attempt, 2);
    EXPECT_EQ(wait("a", "main", 2).exit_code, 7);
    EXPECT_EQ(start("a", container({"true"}, 3)).log_path, "/log/main");
    auto fixed = container({"true"}, 4);
    fixed.read_only_root = true;
    const auto refused = run(runtime_->start_container("a", fixed));
    ASSERT_TRUE(refused);
    EXPECT_FALSE(refused->start);
    EXPECT_NE(refused->message.find("readOnlyRootFilesystem"), std::string::npos);
  }
  remove("a");
}

// A shim answers whoever asks it in the asker's version.
TEST_F(UnknownPodTest, AnOlderMusterIsAnsweredInItsOwnVersion) {
  open_runtime();
  ASSERT_TRUE(run(runtime_->adopt()));
  pod("a");
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, file("a", "control").c_str());
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const auto request = shim::frame(shim::request(shim::Operation::List).bytes());
  ASSERT_EQ(::write(socket.get(), request.data(), request.size()),
            static_cast<ssize_t>(request.size()));
  std::string buffer(20, '\0');
  ASSERT_EQ(::read(socket.get(), buffer.data(), buffer.size()), 20) << "length, status, count";
  EXPECT_EQ(buffer.substr(4), std::string(16, '\0'));
  remove("a");
}

}  // namespace
}  // namespace muster::node
