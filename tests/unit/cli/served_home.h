#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/node_options.h"
#include "cli/cluster/open_cluster.h"
#include "cli/context.h"
#include "cli/plane/sessions.h"
#include "cluster/local/local_cluster.h"
#include "loses_answers.h"
#include "net/http_server.h"
#include "server/embedded.h"
#include "server/http/http_front.h"

namespace muster::cli {

// A home that is served as a control plane serves it, without anybody who runs jobs or pods. Lives
// on the context's loop, and so do the commands that use it. close() it before it is destroyed.
class ServedHome {
 public:
  struct Options {
    bool temporary = false;
    json::Value settings;
    std::optional<server::HomeLock> lock;  // none: taken here
  };
  static Task<Result<std::unique_ptr<ServedHome>>> start(Context& context, Options options) {
    std::unique_ptr<ServedHome> home(new ServedHome);
    home->server_ = CO_TRY(co_await server::EmbeddedServer::create({.loop = context.loop,
                                                                    .pool = &context.pool,
                                                                    .rng = context.rng,
                                                                    .registry = context.registry,
                                                                    .home = context.home,
                                                                    .lock = std::move(options.lock),
                                                                    .own_node = node_name(),
                                                                    .log = context.log}));
    home->cluster_ = std::make_unique<cluster::LocalCluster>(home->server_->core());
    home->front_ = std::make_unique<server::HttpFront>(home->server_->core(), context.rng);
    home->answers_ = std::make_unique<LosesAnswers>(*home->front_);
    home->sessions_ = std::make_unique<Sessions>(
        Sessions::Options{.loop = context.loop,
                          .temporary = options.temporary,
                          .settings = std::move(options.settings),
                          .unfinished = [made = home.get()] { return made->unfinished; },
                          .inner = *home->answers_});
    auto listener = CO_TRY(net::listen_unix(context.loop, socket_path(context.home)));
    home->http_ =
        std::make_unique<net::HttpServer>(context.loop, std::move(listener), *home->sessions_);
    home->http_->start();
    co_return home;
  }

  [[nodiscard]] cluster::Cluster& cluster() const { return *cluster_; }
  [[nodiscard]] server::Core& core() const { return server_->core(); }
  [[nodiscard]] Sessions& sessions() const { return *sessions_; }
  void lose_answers(int count) { answers_->to_lose = count; }
  void fill_disk() { answers_->full = true; }
  [[nodiscard]] int watches() const { return answers_->watches; }
  Task<void> close() {
    co_await http_->close();
    co_await server_->close();
  }

  std::vector<std::string> unfinished;

 private:
  ServedHome() = default;
  std::unique_ptr<server::EmbeddedServer> server_;
  std::unique_ptr<cluster::LocalCluster> cluster_;
  std::unique_ptr<server::HttpFront> front_;
  std::unique_ptr<LosesAnswers> answers_;
  std::unique_ptr<Sessions> sessions_;
  std::unique_ptr<net::HttpServer> http_;
};

}  // namespace muster::cli
