#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "net/http1/connection.h"
#include "net/http_client.h"

namespace muster::net {

using OpenConnections = std::set<Http1Connection*>;

// A streaming answer over HTTP/1.1 with a connection of its own, which the client can close through
// the registry that they share.
class Http1Answer final : public ResponseStream {
 public:
  Http1Answer(std::unique_ptr<Http1Connection> connection,
              std::shared_ptr<OpenConnections> registry, std::string name)
      : connection_(std::move(connection)), registry_(std::move(registry)), name_(std::move(name)) {
    registry_->insert(connection_.get());
  }
  ~Http1Answer() override { registry_->erase(connection_.get()); }

  int status() const override { return connection_->parser().status(); }
  const Headers& headers() const override { return connection_->parser().headers(); }
  Task<Result<std::optional<std::string>>> next() override {
    auto piece = co_await connection_->next();
    if (!piece) co_return fail(piece.error().in(name_));
    co_return std::move(*piece);
  }

 private:
  std::unique_ptr<Http1Connection> connection_;
  std::shared_ptr<OpenConnections> registry_;
  std::string name_;
};

}  // namespace muster::net
