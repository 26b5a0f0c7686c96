#include "cli/cluster/control_plane.h"

#include <fstream>
#include <sstream>

#include "base/strings.h"
#include "cli/cluster/network_api.h"
#include "cli/cluster/open_cluster.h"
#include "cli/plane/sessions.h"
#include "cli/verbs/verbs.h"
#include "log_files.h"
#include "net/http_client.h"
#include "net/stream.h"
#include "plan/dialect.h"
#include "temporary_home.h"
#include "unit/node/fake_runtime.h"
#include "verb_fixture.h"

// A whole control plane, on a machine that only pretends to run programs. Commands share its loop
// and reach it over its socket, or over TLS by the kubeconfig that it leaves.
namespace muster::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class Plane : public ::testing::Test {
 protected:
  Plane() : context_(make_context()) {}
  ~Plane() override {
    stop();
    std::filesystem::remove_all("/dev/shm/muster-node-" + node::home_key(home_.path));
  }

  void start(ControlPlane::Options options) {
    auto machine = std::make_unique<node::FakeRuntime>(loop_, home_.path);
    machine->meeting_place = {.device = "", .address = "127.0.0.1"};
    machine->exec_answers["false"] = 9;
    machine_ = machine.get();
    options.runtime = std::move(machine);
    auto plane = loop_.run(ControlPlane::start(context_, std::move(options)));
    ASSERT_TRUE(plane) << plane.error().message;
    plane_ = std::move(*plane);
  }
  void start() { start({.lock = lock()}); }
  void stop() {
    if (plane_) loop_.run(plane_->close());
    plane_.reset();
  }
  server::HomeLock lock() {
    auto lock = server::HomeLock::take(home_.path);
    EXPECT_TRUE(lock) << lock.error().message;
    return std::move(*lock);
  }

  template <class Verb>
  Outcome outcome(Verb verb) {
    output_.out.clear();
    output_.err.clear();
    Context context = make_context();
    const int code = loop_.run(verb(context));
    return {.code = code, .out = output_.out, .err = output_.err};
  }
  // A pod that does as the FakeRuntime understands.
  std::string pod(const std::string& name, const std::string& command) {
    const std::string path = home_.path + "/" + name + ".yaml";
    std::ofstream(path) << "apiVersion: v1\nkind: Pod\nmetadata: {name: " << name
                        << "}\nspec: {terminationGracePeriodSeconds: 0, containers: [{name: main, "
                           "image: x, command: ["
                        << command << "]}]}\n";
    return path;
  }
  Outcome run_pod(const std::string& name, const std::string& command) {
    const std::string path = pod(name, command);
    return outcome([&](Context& context) { return run(context, {.files = {path}}); });
  }
  // It runs by now.
  void begin_pod(const std::string& name) {
    const std::string path = pod(name, "serve");
    ASSERT_EQ(outcome([&](Context& context) {
                return run(context, {.files = {path}, .detach = true});
              }).code,
              exit_code::kOk);
    ASSERT_EQ(outcome([&](Context& context) {
                return wait(context, {.words = {"pods/" + name},
                                      .condition = "jsonpath={.status.phase}=Running"});
              }).code,
              exit_code::kOk);
  }
  Outcome get_there(const std::string& kubeconfig) {
    return outcome([&](Context& context) {
      context.kubeconfig = kubeconfig;
      return get(context, {.words = {"pods"}, .output = "name"});
    });
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(home_.path + "/" + name).rdbuf();
    return text.str();
  }

  Context make_context() {
    return {.loop = loop_,
            .pool = pool_,
            .rng = rng_,
            .registry = registry_,
            .environment = {{"PATH", "/usr/bin:/bin"}},
            .log = {},
            .output = output_,
            .home = home_.path};
  }

  TemporaryHome home_;
  rt::RealLoop loop_;
  rt::Pool pool_{2};
  SystemRng rng_;
  plan::Registry registry_;
  CapturedOutput output_;
  Context context_;
  node::FakeRuntime* machine_ = nullptr;
  std::unique_ptr<ControlPlane> plane_;
};

TEST_F(Plane, RunsWhatItIsGiven) {
  start();
  const Outcome good = run_pod("good", "run, '0', '0'");
  EXPECT_EQ(good.code, exit_code::kOk) << good.err;
  EXPECT_THAT(good.err, HasSubstr("Created  Pod default/good on this machine (muster up in " +
                                  home_.path + ")"));
  const Outcome bad = run_pod("bad", "run, '0', '3'");
  EXPECT_EQ(bad.code, 3) << bad.err;
  const Outcome nodes =
      outcome([](Context& context) { return get(context, {.words = {"nodes"}}); });
  EXPECT_THAT(nodes.out, ContainsRegex("\n[^ ]+ +Ready +"));
}

TEST_F(Plane, ProgramsAndLogsOfItsPodsAreReachedThroughIt) {
  start();
  begin_pod("lone");
  const auto run_inside = [&](const std::string& program) {
    return outcome([&](Context& context) {
      return exec(context, {.words = {"pods/lone"}, .command = {program}});
    });
  };
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(run_inside("true").code, 0);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "true\n");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(run_inside("false").code, 9);
  ::testing::internal::GetCapturedStdout();
  const std::string uid = machine_->pods.begin()->first;
  std::ofstream(machine_->log_path("default", "lone", uid, "main", 0))
      << record(1, "hello") << record(2, "again");
  const Outcome seen = outcome([&](Context& context) {
    context.kubeconfig = kubeconfig_path(home_.path);
    return logs(context, {.name = "pods/lone", .prefix = false});
  });
  EXPECT_EQ(seen.out, "hello\nagain\n") << seen.err;
}

TEST_F(Plane, OthersComeByItsKubeconfigAndOnlyByThat) {
  start();
  begin_pod("lone");
  const std::string path = kubeconfig_path(home_.path);
  const Outcome owner = get_there(path);
  EXPECT_EQ(owner.code, exit_code::kOk) << owner.err;
  EXPECT_EQ(owner.out, "pods/lone\n");
  std::string text = file("kubeconfig");
  const auto token = text.find("token: ") + 7;
  text.replace(token, text.find('\n', token) - token, "guessed");
  std::ofstream(home_.path + "/guessed") << text;
  const Outcome stranger = get_there(home_.path + "/guessed");
  EXPECT_EQ(stranger.code, exit_code::kFailed);
  EXPECT_THAT(stranger.err, HasSubstr("nauthorized"));
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(Plane, ARestartIsFoundAgain) {
  start();
  begin_pod("lone");
  const std::string kubeconfig = file("kubeconfig");
  const std::string ports = file("api-ports");
  EXPECT_THAT(ports, ::testing::MatchesRegex("[0-9]+ [0-9]+\n"));
  stop();
  start();
  EXPECT_EQ(file("kubeconfig"), kubeconfig);
  EXPECT_EQ(file("api-ports"), ports);
  EXPECT_EQ(get_there(kubeconfig_path(home_.path)).out, "pods/lone\n");
}

TEST_F(Plane, APortThatSomebodyElseHasByNowIsLeftToThem) {
  start();
  const std::string ports = file("api-ports");
  stop();
  const auto port = parse_int(ports.substr(0, ports.find(' ')));
  ASSERT_TRUE(port);
  const auto taken =
      net::listen_tcp(loop_, {.address = "127.0.0.1", .port = static_cast<std::uint16_t>(*port)});
  ASSERT_TRUE(taken) << taken.error().message;
  start();
  EXPECT_NE(file("api-ports"), ports);
  stop();
  // But one that was asked for is meant.
  auto refused = loop_.run(ControlPlane::start(
      context_, {.lock = lock(),
                 .api_port = static_cast<std::uint16_t>(*port),
                 .runtime = std::make_unique<node::FakeRuntime>(loop_, home_.path)}));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(std::to_string(*port)));
  EXPECT_TRUE(server::HomeLock::take(home_.path)) << "the home is free again";
}

TEST_F(Plane, ATemporaryOneEndsWithWhatItIsFor) {
  start({.lock = lock(), .temporary = true});
  Sessions& sessions = plane_->sessions();
  sessions.hold_for_starter();
  begin_pod("lone");
  sessions.release_starter();
  EXPECT_FALSE(sessions.over().is_set()) << "a pod runs";
  sessions.hold_for_starter();
  ASSERT_EQ(
      outcome([](Context& context) { return remove(context, {.words = {"pods/lone"}}); }).code,
      exit_code::kOk);
  EXPECT_FALSE(sessions.over().is_set()) << "somebody holds it";
  sessions.release_starter();
  EXPECT_TRUE(sessions.over().is_set()) << "nothing is left that needs it";
}

TEST_F(Plane, ItsPagesHaveWhatItsLoopWaited) {
  start();
  net::HttpClient client(loop_, net::unix_connector(loop_, socket_path(home_.path)));
  const auto page = loop_.run(client.send({.method = "GET", .target = "/metrics"}));
  loop_.run(client.close());
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->body, HasSubstr("\nmuster_loop_longest_stall_seconds 0."));
}

TEST_F(Plane, UpDoesNotShareAHome) {
  start();
  const Outcome second = outcome([](Context& context) { return up(context, {}); });
  EXPECT_EQ(second.code, exit_code::kFailed);
  EXPECT_THAT(second.err, HasSubstr("is in use by process"));
}

// Tests are not beside the programs that run pods.
TEST_F(Plane, UpNeedsTheProgramsThatWereBuiltWithIt) {
  const Outcome lacking = outcome([](Context& context) { return up(context, {}); });
  EXPECT_EQ(lacking.code, exit_code::kFailed);
  EXPECT_THAT(lacking.err,
              HasSubstr("/muster-shim is missing; it is built and installed together with muster"));
  EXPECT_EQ(lacking.out, "");
  EXPECT_TRUE(server::HomeLock::take(home_.path)) << "the home is free again";
}

}  // namespace
}  // namespace muster::cli
