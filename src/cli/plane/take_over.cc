#include "cli/plane/take_over.h"

#include "cli/cluster/open_cluster.h"
#include "cli/plane/launch.h"
#include "net/http_client.h"
#include "rt/wait.h"

namespace muster::cli {
namespace {

// The owner starts, ends, or only looks: none of it takes long, and the kernel has nothing to wait
// on.
constexpr Duration kLookAgain = std::chrono::milliseconds(5);
constexpr Duration kPatience = std::chrono::seconds(30);

// Whether whoever serves the home is there to stay.
Task<bool> stays(net::HttpClient& http, rt::Loop& loop) {
  net::HttpRequest request{.method = "POST", .target = "/muster/step-aside"};
  const auto answer = co_await rt::with_timeout(loop, kPatience, http.send(std::move(request)));
  co_return answer && answer->status != 200;
}

Task<Result<server::HomeLock>> take(Context& context, net::HttpClient& http) {
  const Monotonic begun = context.loop.monotonic();
  while (true) {
    auto lock = server::HomeLock::take(context.home);
    if (lock || lock.error().code != ErrorCode::AlreadyExists) co_return lock;
    const bool late = context.loop.monotonic() - begun > kPatience;
    if (late || co_await stays(http, context.loop)) co_return lock;
    CO_TRY(co_await rt::sleep_for(context.loop, kLookAgain));
  }
}

}  // namespace

Task<Result<server::HomeLock>> take_over(Context& context) {
  CO_TRY(make_home(context.home));
  net::HttpClient http(context.loop, net::unix_connector(context.loop, socket_path(context.home)));
  auto lock = co_await take(context, http);
  co_await http.close();
  co_return lock;
}

}  // namespace muster::cli
