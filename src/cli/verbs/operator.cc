#include <unistd.h>

#include <csignal>

#include <fmt/format.h>

#include "base/memory.h"
#include "base/strings.h"
#include "base/version.h"
#include "cli/cluster/bind_address.h"
#include "cli/cluster/health_pages.h"
#include "cli/cluster/kube_client.h"
#include "cli/cluster/stalls.h"
#include "cli/jobs/resource_names.h"
#include "cli/objects/kind_names.h"
#include "cli/print_error.h"
#include "cli/verbs/verbs.h"
#include "cluster/leader.h"
#include "controller/controller.h"
#include "net/http_server.h"
#include "net/stream.h"

namespace muster::cli {
namespace {

using cluster::kube::KubeCluster;

Result<std::unique_ptr<net::HttpServer>> serve_health(Context& context, const std::string& address,
                                                      HealthPages& pages) {
  const auto where = TRY(parse_bind_address(address));
  if (!where) return std::unique_ptr<net::HttpServer>();
  auto listener = TRY(listen_at(*where, [&](net::TcpListenOptions options) {
    return net::listen_tcp(context.loop, std::move(options));
  }));
  context.log.info("serving /metrics, /healthz and /readyz on {}", listener->describe());
  auto server = std::make_unique<net::HttpServer>(context.loop, std::move(listener), pages);
  server->start();
  return server;
}

// Two operators for one kind would fight over its jobs: refuse while the other's lease is fresh.
Task<Result<void>> check_foreign_leases(std::vector<const plan::Dialect*> kinds,
                                        cluster::Cluster& cluster, std::string ns, Time now) {
  for (const plan::Dialect* dialect : kinds) {
    const std::string& lease_name = dialect->identity().foreign_lease;
    if (lease_name.empty()) continue;
    const auto leases = co_await cluster.list(
        api::leases(), {.where = {.ns = ns, .fields = "metadata.name=" + lease_name}});
    // Without the right to look we cannot tell; the shipped roles have it.
    if (!leases && leases.error().code == ErrorCode::Forbidden) continue;
    if (!leases) co_return fail(leases.error().in("looking for another operator's lease"));
    for (const auto& lease : leases->items) {
      const json::Value& spec = (*lease)["spec"];
      const auto renewed = api::time_at(spec["renewTime"]);
      const auto duration = std::chrono::seconds(spec["leaseDurationSeconds"].as_int(15));
      if (spec["holderIdentity"].as_string().empty() || !renewed || *renewed + duration < now)
        continue;
      co_return fail(ErrorCode::Conflict,
                     fmt::format("{} is run by another operator: lease {}/{} is held by {}; stop "
                                 "it, or use --take-over",
                                 dialect->identity().resource.kind, api::namespace_of(*lease),
                                 lease_name, spec["holderIdentity"].as_string()));
    }
  }
  co_return Result<void>{};
}

Task<void> stop_on_signal(rt::RealLoop& loop, rt::Event& over, bool& told) {
  rt::Signals signals(loop, {SIGINT, SIGTERM});
  if (!co_await signals.next()) co_return;
  told = true;
  over.set();
}

Task<void> stop_on_loss(cluster::Leader& leader, rt::Event& over, bool& lost) {
  co_await leader.lost();
  lost = !(co_await rt::current_stop()).stop_requested();
  over.set();
}

// A list of ten thousand pods, or as many creations, need far more memory than what is kept of
// them.
Task<void> release_memory_after_bursts(rt::Loop& loop, const controller::Controller& controller) {
  std::uint64_t seen = 0;
  while (co_await rt::sleep_for(loop, std::chrono::seconds(2))) {
    if (!controller.idle() || controller.looks() == seen) continue;
    seen = controller.looks();
    release_unused_memory();
  }
}

std::string identity(Rng& rng) {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return fmt::format("{}_{}", name, make_uuid(rng));
}

// What is served, for whom and where: the first line, so that a wrong cluster shows at once.
std::string greeting(const Context& context, const cluster::kube::ClientConfig& config,
                     const std::vector<const plan::Dialect*>& kinds, const std::string& ns) {
  std::vector<std::string> names;
  for (const plan::Dialect* dialect : kinds) {
    // What a cluster runs itself is left to it.
    if (!dialect->identity().embedded_only)
      names.push_back(full_spelling(context.registry, *dialect));
  }
  return fmt::format("muster {}: operator of {} in {}: runs {}", kVersion, describe(config),
                     ns.empty() ? "all namespaces" : fmt::format("namespace {}", ns),
                     join(names, ", "));
}

// Everything between the first connection and the last: elected, synced, running, released.
Task<Result<void>> operate(Context& context, KubeCluster& election_cluster, KubeCluster& cluster,
                           cluster::Leader* leader, std::vector<const plan::Dialect*> kinds,
                           const cluster::kube::RequestCounts& requests, OperatorOptions options) {
  if (!options.take_over)
    CO_TRY(co_await check_foreign_leases(kinds, election_cluster, options.ns, context.loop.now()));
  HealthPages pages(context.loop, leader, requests);
  const auto metrics = CO_TRY(serve_health(context, options.metrics_address, pages));
  const auto health = serve_health(context, options.health_address, pages);
  if (!health) {
    if (metrics) co_await metrics->close();
    co_return fail(health.error());
  }
  rt::Event over(context.loop);
  rt::TaskScope scope(context.loop);
  bool lost = false;
  bool told_to_end = false;
  scope.spawn(stop_on_signal(context.loop, over, told_to_end));
  scope.spawn(warn_of_stalls(context.loop, context.log.named("loop")));
  controller::Controller controller(
      context.loop, cluster, context.registry, context.rng, context.log,
      {.ns = options.ns,
       .kinds = std::move(kinds),
       .take_over = options.take_over,
       .may_write =
           leader == nullptr ? std::function<bool()>() : [leader] { return leader->may_write(); }});
  pages.controller = &controller;
  rt::TaskScope work(context.loop);
  Result<void> led;
  if (leader != nullptr) {
    leader->start();
    pages.acts = false;
    rt::TaskScope waiting(context.loop);
    bool elected = false;
    const auto await_election = [](cluster::Leader& who, rt::Event& done, bool& won) -> Task<void> {
      won = (co_await who.elected()).has_value();
      done.set();
    };
    waiting.spawn(await_election(*leader, over, elected));
    [[maybe_unused]] const auto woken = co_await over.wait();
    co_await waiting.close();
    if (elected) {
      if (!told_to_end) over.reset();  // it may come with the election
      context.log.info("elected leader");
      scope.spawn(stop_on_loss(*leader, over, lost));
    }
  }
  if (leader == nullptr || leader->may_write()) {
    pages.acts = true;
    work.spawn(controller.run());
    work.spawn(release_memory_after_bursts(context.loop, controller));
    [[maybe_unused]] const auto waited = co_await over.wait();
  }
  co_await work.close();
  co_await scope.close();  // first: giving the lease back is no loss
  if (leader != nullptr) co_await leader->close();
  if (*health) co_await (*health)->close();
  if (metrics) co_await metrics->close();
  if (lost) co_return fail(ErrorCode::Unavailable, "lost the leader lease");
  co_return Result<void>{};
}

}  // namespace

Task<int> run_operator(Context& context, OperatorOptions options) {
  auto kinds = kinds_named(context.registry, options.kinds);
  if (!kinds) {
    print_error(context.output, kinds.error());
    co_return exit_code::kUsage;
  }
  const auto config = client_config(context);
  if (!config) {
    print_error(context.output, config.error());
    co_return exit_code::kFailed;
  }
  context.log.info("{}", greeting(context, *config, *kinds, options.ns));
  // The election has a client of its own: its renewals neither queue behind the work nor ask the
  // fence that they keep open.
  cluster::kube::RequestCounts requests;
  auto election = open_kube(context, *config, {.counts = &requests});
  if (!election) {
    print_error(context.output, election.error());
    co_return exit_code::kFailed;
  }
  std::unique_ptr<cluster::Leader> leader;
  if (options.leader_elect) {
    leader = std::make_unique<cluster::Leader>(
        context.loop, **election, context.rng,
        cluster::LeaderOptions{.ns = options.lease_namespace, .identity = identity(context.rng)},
        context.log.named("leader"));
  }
  auto cluster = open_kube(context, *config, {.fence = leader.get(), .counts = &requests});
  if (!cluster) {
    print_error(context.output, cluster.error());
    co_return exit_code::kFailed;
  }
  const auto done = co_await operate(context, **election, **cluster, leader.get(),
                                     std::move(*kinds), requests, std::move(options));
  co_await (*cluster)->close();
  co_await (*election)->close();
  if (!done) print_error(context.output, done.error());
  co_return done ? exit_code::kOk : exit_code::kFailed;
}

}  // namespace muster::cli
