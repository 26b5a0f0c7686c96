#include "cli/cluster/open_cluster.h"

#include <fmt/format.h>

#include "cli/cluster/kube_client.h"
#include "cli/cluster/stored_cluster.h"
#include "cli/plane/full_disk.h"
#include "cli/plane/link.h"
#include "cli/plane/plane_cluster.h"
#include "cli/plane/settings.h"
#include "cli/print_error.h"
#include "cluster/kube/kube_cluster.h"

namespace muster::cli {
namespace {

// A process that starts, ends, or looks at the home as we do.
constexpr Duration kLookAgain = std::chrono::milliseconds(5);
constexpr int kMostLooks = 6000;
// A person waits no longer to hear that a cluster cannot be reached.
constexpr Duration kFirstContact = std::chrono::seconds(3);

}  // namespace

std::string socket_path(const std::string& home) {
  return home + "/muster.sock";
}

OpenCluster::OpenCluster() = default;
OpenCluster::~OpenCluster() = default;

Task<Result<std::unique_ptr<OpenCluster>>> OpenCluster::open(Context& context, PlaneParts parts) {
  auto target = std::make_unique<OpenCluster>();
  target->loop_ = &context.loop;
  if (context.wants_cluster()) {
    if (const std::string flags = flags_of_the_runner(context); !flags.empty()) {
      co_return fail(ErrorCode::BadRequest,
                     fmt::format("{}: for whoever runs the jobs and their pods; on a cluster that "
                                 "is muster operator (--agent-image) and muster node (--images, "
                                 "--capacity)",
                                 flags));
    }
    CO_TRY(co_await target->open_kubernetes(context));
  } else if (auto opened = co_await target->open_local(context, parts); !opened) {
    co_return fail(naming_full_disk(context, std::move(opened).error()));
  }
  if (!context.ns.empty()) target->ns_ = context.ns;
  co_return target;
}

Task<Result<void>> OpenCluster::open_kubernetes(Context& context) {
  const auto config = CO_TRY(client_config(context));
  remote_ = CO_TRY(open_kube(context, config, {.retry = {.first_contact = kFirstContact}}));
  cluster_ = remote_.get();
  ns_ = config.ns;
  description_ = fmt::format("cluster {}", config.context);
  co_return Result<void>{};
}

Task<Result<void>> OpenCluster::open_local(Context& context, PlaneParts parts) {
  local_ = true;
  description_ = "this machine";
  if (parts == PlaneParts::Store) {
    CO_TRY(co_await open_stored(context));
    if (stored_) co_return Result<void>{};
  } else {
    CO_TRY(co_await open_link(context, PlaneLink::WhenAbsent::Start));
  }
  plane_ = CO_TRY(PlaneCluster::create(context, *link_));
  cluster_ = plane_.get();
  tier_ = link_->tier();
  if (!link_->temporary())
    description_ = fmt::format("this machine (muster up in {})", context.home);
  co_return Result<void>{};
}

Task<Result<void>> OpenCluster::open_link(Context& context, PlaneLink::WhenAbsent absent) {
  link_ = std::make_unique<PlaneLink>(context);
  auto linked = co_await link_->open(absent);
  if (!linked) {
    co_await link_->leave();
    link_.reset();
  }
  co_return linked;
}

// The store itself where no plane runs; several tries, as one may end or begin in between.
Task<Result<void>> OpenCluster::open_stored(Context& context) {
  for (int looks = 0;; ++looks) {
    auto linked = co_await open_link(context, PlaneLink::WhenAbsent::Refuse);
    if (linked || linked.error().code != ErrorCode::NotFound) co_return linked;
    auto stored = co_await StoredCluster::open(context);
    if (stored) {
      stored_ = std::move(*stored);
      cluster_ = &stored_->cluster();
      co_return Result<void>{};
    }
    if (stored.error().code != ErrorCode::AlreadyExists || looks >= kMostLooks)
      co_return fail(stored.error());
    CO_TRY(co_await rt::sleep_for(context.loop, kLookAgain));
  }
}

cluster::kube::KubeCluster* OpenCluster::remote() const {
  return plane_ ? &plane_->api() : remote_.get();
}

bool OpenCluster::is_temporary() const {
  return local_ && (!link_ || link_->temporary());
}

const std::optional<Error>& OpenCluster::failure() const {
  static const std::optional<Error> none;
  return link_ ? link_->failure() : none;
}

Task<void> OpenCluster::stop_on_failure(std::stop_source stop) {
  if (!link_) co_return;
  if (co_await link_->failed().wait()) stop.request_stop();
}

Task<int> with_cluster(Context& context, PlaneParts parts,
                       std::function<Task<Result<int>>(OpenCluster&)> work) {
  auto target = co_await OpenCluster::open(context, parts);
  if (!target) {
    print_error(context.output, target.error());
    co_return exit_code::kFailed;
  }
  const auto code = co_await (*target)->guard(work(**target));
  const auto& failure = (*target)->failure();
  if (failure || !code) print_error(context.output, failure ? *failure : code.error());
  co_await (*target)->close();
  co_return failure ? exit_code::kFailed : code.value_or(exit_code::kFailed);
}

Task<void> OpenCluster::close() {
  if (remote_) co_await remote_->close();
  if (plane_) co_await plane_->close();
  if (link_) unfinished_ = co_await link_->leave();
  if (stored_) co_await stored_->close();
}

}  // namespace muster::cli
