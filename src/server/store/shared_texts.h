#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/traffic_limits.h"
#include "server/types.h"

namespace muster::server {

// What watches are being told: an event is written once for all of them and is gone when the last
// has sent it. All texts together have a bound; at it those who have been at the oldest ones for
// longest are stopped, so that readers who do not read cost no memory. Lives on the server's loop
// and outlives what it gives.
class SharedTexts {
 public:
  class Sending;

  explicit SharedTexts(std::size_t max_bytes = limits::kMaxEventBytesAtOnce) : max_(max_bytes) {}
  SharedTexts(const SharedTexts&) = delete;
  SharedTexts& operator=(const SharedTexts&) = delete;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Text;
  using Key = std::pair<const json::Value*, EventType>;

  std::shared_ptr<Text> find_or_write(const ObjectPtr& object, EventType type,
                                      const std::function<std::string()>& write);
  std::shared_ptr<Text> add(ObjectPtr object, std::optional<Key> key, std::string text);
  void stop_the_slowest(const Text& newest);

  std::size_t max_;
  std::size_t bytes_ = 0;
  std::map<Key, Text*> by_object_;
  std::list<Text*> oldest_first_;
};

// One watch that is sending a text.
class SharedTexts::Sending {
 public:
  // The text of an event, written now unless somebody is sending it already.
  Sending(SharedTexts& all, const WatchEvent& event, const std::function<std::string()>& write);
  // One that nobody else is told.
  Sending(SharedTexts& all, std::string text);
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;
  ~Sending();

  [[nodiscard]] std::string_view text() const;
  // Of who sends it: stopped when it has taken too long.
  [[nodiscard]] std::stop_source& stop() { return stop_; }

 private:
  std::stop_source stop_;
  std::shared_ptr<Text> text_;
};

}  // namespace muster::server
