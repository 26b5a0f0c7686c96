#include "cli/cluster/open_cluster.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/strings.h"
#include "cli/cluster/control_plane.h"
#include "cli/cluster/kube_client.h"
#include "cli/print_error.h"
#include "cluster/kube/kube_cluster.h"

namespace muster::cli {
namespace {

using cluster::kube::KubeCluster;

// Whether somebody listens there now; a socket file alone may be left from a crash.
bool answers(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// Flags for the process that runs the jobs and pods; whoever else gets them must not pass over
// them.
// "--images, --capacity", or nothing.
std::string flags_of_the_runner(const Context& context) {
  std::vector<std::string> given;
  if (!context.image_files.empty()) given.emplace_back("--images");
  if (!context.capacity.empty()) given.emplace_back("--capacity");
  if (!context.agent_image.empty()) given.emplace_back("--agent-image");
  return join(given, ", ");
}

}  // namespace

std::string socket_path(const std::string& home) {
  return home + "/muster.sock";
}

OpenCluster::OpenCluster() = default;
OpenCluster::~OpenCluster() = default;

Task<Result<std::unique_ptr<OpenCluster>>> OpenCluster::open(Context& context, PlaneParts parts) {
  auto target = std::make_unique<OpenCluster>();
  if (context.wants_cluster()) {
    if (const std::string flags = flags_of_the_runner(context); !flags.empty()) {
      co_return fail(ErrorCode::BadRequest,
                     fmt::format("{}: for whoever runs the jobs and their pods; on a cluster that "
                                 "is muster operator (--agent-image) and muster node (--images, "
                                 "--capacity)",
                                 flags));
    }
    CO_TRY(co_await target->open_kubernetes(context));
  } else {
    CO_TRY(co_await target->open_local(context, parts));
  }
  if (!context.ns.empty()) target->ns_ = context.ns;
  co_return target;
}

Task<Result<void>> OpenCluster::open_kubernetes(Context& context) {
  const auto config = CO_TRY(client_config(context));
  remote_ = CO_TRY(open_kube(context, config, nullptr));
  cluster_ = remote_.get();
  ns_ = config.ns;
  description_ = fmt::format("cluster {}", config.context);
  co_return Result<void>{};
}

Task<Result<void>> OpenCluster::open_local(Context& context, PlaneParts parts) {
  local_ = true;
  description_ = "this machine";
  // Several tries: an owner may end, or a new one begin, between looking and asking.
  for (int attempt = 0;; ++attempt) {
    if (answers(socket_path(context.home))) {
      if (const std::string flags = flags_of_the_runner(context); !flags.empty()) {
        co_return fail(ErrorCode::Conflict,
                       fmt::format("the pods of {} are run by the muster that is up there: give {} "
                                   "to it, or use another --home",
                                   context.home, flags));
      }
      cluster::kube::ClientConfig config{.context = "local",
                                         .server = {.socket_path = socket_path(context.home)}};
      remote_ = CO_TRY(open_kube(context, config, nullptr));
      cluster_ = remote_.get();
      description_ = fmt::format("this machine (muster up in {})", context.home);
      co_return Result<void>{};
    }
    auto plane = co_await ControlPlane::start(context, parts);
    if (plane) {
      plane_ = std::move(*plane);
      cluster_ = &plane_->cluster();
      co_return Result<void>{};
    }
    const bool owned =
        plane.error().code == ErrorCode::AlreadyExists || plane.error().code == ErrorCode::Conflict;
    if (!owned || attempt >= 20) co_return fail(plane.error());
    CO_TRY(co_await rt::sleep_for(context.loop, std::chrono::milliseconds(100)));
  }
}

Task<int> with_cluster(Context& context, PlaneParts parts,
                       std::function<Task<Result<int>>(OpenCluster&)> work) {
  auto target = co_await OpenCluster::open(context, parts);
  if (!target) {
    print_error(context.output, target.error());
    co_return exit_code::kFailed;
  }
  const auto code = co_await work(**target);
  if (!code) print_error(context.output, code.error());
  co_await (*target)->close();
  co_return code.value_or(exit_code::kFailed);
}

Task<void> OpenCluster::close() {
  if (remote_) co_await remote_->close();
  if (plane_) co_await plane_->close();
}

}  // namespace muster::cli
