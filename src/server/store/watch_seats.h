#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "base/traffic_limits.h"

namespace muster::server {

// Who has how many watches over the wire. A client may have kMaxWatchesPerClient, and never more
// than are left free: so there is always one for somebody who has none. The process's own watches
// need no seat. Lives on the server's loop and outlives the seats.
class WatchSeats {
 public:
  class Seat {
   public:
    Seat(WatchSeats& all, const std::string& client);
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;
    ~Seat();

   private:
    WatchSeats& all_;
    std::map<std::string, std::size_t>::iterator client_;
  };

  // Null when the client has as many as it may have.
  std::unique_ptr<Seat> take(const std::string& client) {
    const auto found = taken_.find(client);
    const std::size_t held = found == taken_.end() ? 0 : found->second;
    const std::size_t free = limits::kMaxWatches - total_;
    if (held >= limits::kMaxWatchesPerClient || held >= free) return nullptr;
    return std::make_unique<Seat>(*this, client);
  }
  [[nodiscard]] std::size_t total() const { return total_; }

 private:
  std::map<std::string, std::size_t> taken_;
  std::size_t total_ = 0;
};

inline WatchSeats::Seat::Seat(WatchSeats& all, const std::string& client)
    : all_(all), client_(all.taken_.try_emplace(client, 0).first) {
  ++client_->second;
  ++all_.total_;
}

inline WatchSeats::Seat::~Seat() {
  --all_.total_;
  if (--client_->second == 0) all_.taken_.erase(client_);
}

}  // namespace muster::server
