#include "cli/cluster/health_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/local/local_cluster.h"
#include "dialects/registry.h"
#include "server/embedded.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

// Keeps what was answered.
class Answer final : public net::Responder {
 public:
  Task<Result<void>> respond(net::HttpResponse response) override {
    given = std::move(response);
    co_return Result<void>{};
  }
  Task<Result<void>> begin(int, net::Headers) override { co_return Result<void>{}; }
  Task<Result<void>> write_chunk(std::string_view) override { co_return Result<void>{}; }
  Task<Result<void>> finish() override { co_return Result<void>{}; }
  Task<Result<std::unique_ptr<net::Stream>>> upgrade(net::Headers) override {
    co_return fail(ErrorCode::Unavailable, "there is no connection");
  }
  [[nodiscard]] const net::Peer& peer() const override { return peer_; }

  net::HttpResponse given;

 private:
  net::Peer peer_;
};

class HealthPagesTest : public ::testing::Test {
 protected:
  net::HttpResponse ask(HealthPages& pages, const std::string& target) {
    Answer answer;
    const net::HttpRequest request{.method = "GET", .target = target};
    loop_.run(pages.handle(request, answer));
    return answer.given;
  }

  rt::RealLoop loop_;
  cluster::kube::RequestCounts requests_;
};

TEST_F(HealthPagesTest, TheFiguresOfAllParts) {
  requests_.record("GET", 200, std::chrono::milliseconds(3));
  HealthPages pages(loop_, nullptr, requests_);
  const auto page = ask(pages, "/metrics");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.get("content-type"), "text/plain; version=0.0.4");
  for (const char* sample :
       {"muster_build_info{version=\"", "rest_client_requests_total{code=\"200\",method=\"GET\"} 1",
        "muster_loop_busy_seconds_total 0.", "muster_loop_stalls_total 0\n",
        "process_cpu_seconds_total ", "process_resident_memory_bytes "}) {
    EXPECT_THAT(page.body, HasSubstr(std::string("\n") + sample));
  }
  EXPECT_EQ(page.body.back(), '\n');
}

TEST_F(HealthPagesTest, WithoutAnElectionItLeads) {
  HealthPages pages(loop_, nullptr, requests_);
  EXPECT_THAT(pages.metrics(),
              HasSubstr("\nleader_election_master_status{name=\"muster-operator\"} 1\n"));
}

TEST_F(HealthPagesTest, AStandbyIsReadyAndSaysThatItDoesNotLead) {
  SeededRng rng(1);
  const plan::Registry registry = dialects::make_registry();
  auto server = *loop_.run(server::EmbeddedServer::create(
      {.loop = loop_, .rng = rng, .registry = registry, .home = ""}));
  {
    cluster::LocalCluster cluster(server->core());
    const cluster::Leader candidate(loop_, cluster, rng, {.ns = "muster-system", .identity = "me"});
    HealthPages pages(loop_, &candidate, requests_);
    pages.acts = false;
    EXPECT_THAT(pages.metrics(),
                HasSubstr("\nleader_election_master_status{name=\"muster-operator\"} 0\n"));
    EXPECT_EQ(ask(pages, "/readyz").status, 200);
    EXPECT_EQ(ask(pages, "/nothing").status, 404);
  }
  loop_.run(server->close());
}

// Who asks for readiness waits for the first, who asks for life restarts it for the second.
TEST_F(HealthPagesTest, ALeaderThatCannotFollowItsJobsLivesAndIsNotReady) {
  SeededRng rng(1);
  const plan::Registry registry = dialects::make_registry();
  auto server = *loop_.run(server::EmbeddedServer::create(
      {.loop = loop_, .rng = rng, .registry = registry, .home = ""}));
  {
    cluster::LocalCluster cluster(server->core());
    const Logger quiet([](Severity, std::string_view, std::string_view) {}, Severity::Warning);
    const controller::Controller not_begun(loop_, cluster, registry, rng, quiet, {});
    HealthPages pages(loop_, nullptr, requests_);
    EXPECT_EQ(ask(pages, "/readyz").status, 200) << "there is nothing that it could not do";
    pages.controller = &not_begun;
    const auto ready = ask(pages, "/readyz");
    EXPECT_EQ(ready.status, 503);
    EXPECT_EQ(ready.body, not_begun.trouble() + "\n");
    EXPECT_THAT(ready.body, HasSubstr("and their children are not known yet"));
    const auto healthy = ask(pages, "/healthz");
    EXPECT_EQ(healthy.status, 200);
    EXPECT_EQ(healthy.body, "ok\n");
    EXPECT_THAT(ask(pages, "/metrics").body, HasSubstr("\nmuster_jobs{"))
        << "the controller's, too";
    pages.acts = false;
    EXPECT_EQ(ask(pages, "/readyz").status, 200) << "another one leads";
  }
  loop_.run(server->close());
}

}  // namespace
}  // namespace muster::cli
