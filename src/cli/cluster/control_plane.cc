#include "cli/cluster/control_plane.h"

#include <fmt/format.h>

#include "api/object.h"
#include "cli/cluster/network_api.h"
#include "cli/cluster/node_metrics.h"
#include "cli/cluster/node_options.h"
#include "cli/cluster/open_cluster.h"
#include "cli/cluster/stalls.h"
#include "cli/history/history_keeper.h"
#include "cli/plane/process_limits.h"
#include "cli/plane/sessions.h"
#include "cli/plane/settings.h"
#include "cli/plane/unfinished.h"
#include "cluster/local/local_cluster.h"
#include "controller/controller.h"
#include "net/http_server.h"
#include "node/agent/agent.h"
#include "node/runtime/runtime.h"
#include "scheduler/scheduler.h"
#include "server/embedded.h"
#include "server/http/http_front.h"

namespace muster::cli {
namespace {

constexpr std::string_view kServiceRange = "10.96.0.0/16";

// The node's log files as the API server's source of logs.
class NodeLogs final : public server::LogSource {
 public:
  NodeLogs(node::LogSource& logs, server::Core& core) : logs_(logs), core_(core) {}

  Task<Result<std::unique_ptr<server::LogStream>>> open(server::ObjectPtr pod,
                                                        server::LogOptions options) override {
    // A follower asks again and again how the pod is; once it is gone, its last state stands.
    auto current = [this, last = pod]() mutable {
      const auto* kind = core_.kinds().find(api::pods());
      const auto now = core_.get(*kind, api::key_of(*last));
      if (!now || api::uid_of(**now) != api::uid_of(*last)) return api::ObjectPtr();
      return last = *now;
    };
    co_return logs_.open(std::move(current), options);
  }

 private:
  node::LogSource& logs_;
  server::Core& core_;
};

// The node's containers as the API server's place for programs.
class NodePrograms final : public server::ProgramSource {
 public:
  explicit NodePrograms(node::ProgramSource& programs) : programs_(programs) {}
  Task<Result<std::unique_ptr<rt::RemoteProgram>>> open(server::ObjectPtr pod,
                                                        server::ExecOptions options) override {
    return programs_.open(std::move(pod), std::move(options));
  }

 private:
  node::ProgramSource& programs_;
};

}  // namespace

// In the order they are made; close() goes backwards.
struct ControlPlane::Impl {
  explicit Impl(Context& with) : context(with), failed(with.loop), scope(with.loop) {}

  Context& context;
  std::uint64_t open_files = 0;  // that we could have before we asked for more
  std::optional<Error> failure;
  rt::Event failed;
  rt::Pool commits{1};  // of the store's own: no answer waits behind the pods' disk work
  std::unique_ptr<server::EmbeddedServer> server;
  std::unique_ptr<cluster::LocalCluster> cluster;
  std::unique_ptr<NetworkApi> network;
  std::unique_ptr<node::Runtime> runtime;
  std::unique_ptr<node::NodeAgent> agent;
  std::unique_ptr<NodeLogs> logs;
  std::unique_ptr<NodePrograms> programs;
  std::unique_ptr<NodeMetrics> metrics;
  std::unique_ptr<scheduler::Scheduler> scheduler;
  std::unique_ptr<controller::Controller> controller;
  std::unique_ptr<HistoryKeeper> history;
  std::unique_ptr<server::HttpFront> front;
  std::unique_ptr<WithMetrics> pages;
  std::unique_ptr<Sessions> sessions;
  std::unique_ptr<net::HttpServer> http;
  rt::TaskScope scope;

  Task<Result<void>> start(Options options) {
    open_files = prepare_to_serve();
    const auto credentials = CO_TRY(api_credentials(context, std::string(kServiceRange)));
    server =
        CO_TRY(co_await server::EmbeddedServer::create({.loop = context.loop,
                                                        .pool = &commits,
                                                        .rng = context.rng,
                                                        .registry = context.registry,
                                                        .home = context.home,
                                                        .lock = std::move(options.lock),
                                                        .service_range = std::string(kServiceRange),
                                                        .root_ca = credentials.ca_pem,
                                                        .token_key = credentials.token_key,
                                                        .own_node = node_name(),
                                                        .log = context.log.named("server")}));
    server->on_failure([this](const Error& why) {
      failure = why;
      failed.set();
    });
    cluster = std::make_unique<cluster::LocalCluster>(server->core());
    runtime = std::move(options.runtime);
    CO_TRY(co_await start_workers(credentials, options.api_port));
    co_return serve(options.temporary, std::move(options.tier));
  }

  Result<std::unique_ptr<node::Runtime>> runtime_of_this_machine() {
    return node::create_runtime(context.loop, context.pool,
                                {.home = context.home,
                                 .shim_path = TRY(find_shim()),
                                 .service_range = std::string(kServiceRange),
                                 .open_files = open_files,
                                 .logger = context.log.named("runtime")});
  }

  Task<void> serve_network(net::Identity identity) {
    const auto served = co_await network->serve(std::move(identity));
    if (served || served.error().code == ErrorCode::Cancelled) co_return;
    failure = served.error();
    failed.set();
  }

  Task<Result<void>> start_workers(server::Credentials credentials,
                                   std::optional<std::uint16_t> api_port) {
    auto settings = CO_TRY(node_options(context, node_name()));
    if (!runtime) runtime = CO_TRY(runtime_of_this_machine());
    network =
        CO_TRY(NetworkApi::bind(context, server->core(), credentials, api_port, runtime->bridge()));
    scope.spawn(serve_network(credentials.server));
    settings.api = network->for_pods();
    settings.api_of_host = network->for_host();
    agent = CO_TRY(node::NodeAgent::create(
        {.loop = context.loop,
         .cluster = *cluster,
         .runtime = *runtime,
         .rng = context.rng,
         .disk = std::make_unique<node::PoolDiskWork>(context.loop, context.pool),
         .log = context.log.named("node")},
        std::move(settings)));
    logs = std::make_unique<NodeLogs>(agent->logs(), server->core());
    server->core().set_log_source(logs.get());
    programs = std::make_unique<NodePrograms>(agent->programs());
    server->core().set_program_source(programs.get());
    metrics = std::make_unique<NodeMetrics>(context);
    network->set_metrics_source(metrics.get());
    scheduler =
        std::make_unique<scheduler::Scheduler>(context.loop, *cluster, context.rng, context.log);
    controller = std::make_unique<controller::Controller>(context.loop, *cluster, context.registry,
                                                          context.rng, context.log,
                                                          controller::Controller::Options{});
    CO_TRY(co_await agent->start());
    scope.spawn(scheduler->run());
    scope.spawn(controller->run());
    history = std::make_unique<HistoryKeeper>(context, *cluster, Quota::from(context));
    history->start();
    co_return Result<void>{};
  }

  Result<void> serve(bool temporary, std::string tier) {
    auto listener = TRY(net::listen_unix(context.loop, socket_path(context.home)));
    front = std::make_unique<server::HttpFront>(server->core(), context.rng);
    front->set_metrics_source(metrics.get());
    pages = std::make_unique<WithMetrics>(context.loop, *front);
    sessions = std::make_unique<Sessions>(Sessions::Options{
        .loop = context.loop,
        .temporary = temporary,
        .settings = runner_settings(context),
        .tier = std::move(tier),
        .unfinished = [this] { return unfinished(server->core(), context.registry); },
        .inner = *pages});
    http = std::make_unique<net::HttpServer>(
        context.loop, std::move(listener), *sessions,
        net::HttpServerOptions{.max_connections = connections_of_a_listener(),
                               .log = context.log.named("http")});
    http->start();
    scope.spawn(look_for_the_end());
    scope.spawn(warn_of_stalls(context.loop, context.log.named("loop")));
    return {};
  }

  // What finishes may have been the last thing that needed us.
  Task<void> look_for_the_end() {
    while (co_await server->core().progress().wait()) sessions->look_again();
  }

  Task<void> close() {
    if (sessions) co_await sessions->finish(failure);
    if (http) co_await http->close();
    co_await scope.close();
    // Without its store nobody can be told how pods ended; the next plane does that.
    if (agent && !failure) co_await agent->settle(std::chrono::seconds(10));
    if (history) co_await history->close();
    if (agent) co_await agent->close();
    if (network) co_await network->close();
    if (runtime) co_await runtime->close();
    if (server) co_await server->close();
  }
};

ControlPlane::ControlPlane(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ControlPlane::~ControlPlane() = default;

Task<Result<std::unique_ptr<ControlPlane>>> ControlPlane::start(Context& context, Options options) {
  std::unique_ptr<ControlPlane> plane(new ControlPlane(std::make_unique<Impl>(context)));
  auto started = co_await plane->impl_->start(std::move(options));
  if (!started) {
    co_await plane->close();
    co_return fail(started.error());
  }
  co_return plane;
}

Sessions& ControlPlane::sessions() const {
  return *impl_->sessions;
}
const std::optional<Error>& ControlPlane::failure() const {
  return impl_->failure;
}
rt::Event& ControlPlane::failed() {
  return impl_->failed;
}
Task<void> ControlPlane::close() {
  return impl_->close();
}

}  // namespace muster::cli
