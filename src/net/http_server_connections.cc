#include "net/http_server_connections.h"

#include <algorithm>

#include "base/memory.h"

namespace muster::net {

namespace {
constexpr auto kLook = std::chrono::seconds(1);
// What so many leave behind in the heap is worth a walk through it.
constexpr std::size_t kCrowd = 256;
}  // namespace

bool Connections::make_room() {
  const auto most = std::ranges::max_element(
      clients_, {}, [](const auto& client) { return client.second.waiting.size(); });
  if (most == clients_.end() || most->second.waiting.empty()) return close_slow_reader();
  most->second.waiting.front()->close();
  return true;
}

bool Connections::close_slow_reader() {
  Member* slowest = nullptr;
  for (auto& [name, client] : clients_) {
    if (client.reading.empty()) continue;
    Member* oldest = client.reading.front();
    if (slowest == nullptr || oldest->since_ < slowest->since_) slowest = oldest;
  }
  if (slowest == nullptr || loop_.monotonic() - slowest->since_ < kReadPatience) return false;
  slowest->close();
  return true;
}

Task<Result<void>> Connections::change() {
  auto changed = co_await rt::with_timeout(loop_, kLook, changed_.wait());
  if (!changed && changed.error().code != ErrorCode::Timeout) co_return changed;
  co_return Result<void>{};
}

Connections::Member::Member(Connections& all, Stream& stream)
    : all_(all), stream_(stream), client_(all.clients_.try_emplace(stream.client()).first) {
  ++client_->second.members;
  ++all_.open_;
  all_.crowd_ = std::max(all_.crowd_, all_.open_);
  now(Doing::Waiting);
}

Connections::Member::~Member() {
  now(Doing::Waiting);
  leave_list();
  give_back_answer();
  if (!closed_) --all_.open_;
  if (--client_->second.members == 0) all_.clients_.erase(client_);
  all_.changed_.pulse();
  all_.left();
}

void Connections::left() {
  if (crowd_ < kCrowd || open_ > crowd_ / 8) return;
  crowd_ = open_;
  release_unused_memory();
}

void Connections::Member::leave_list() {
  if (list_ != nullptr) list_->erase(place_);
  list_ = nullptr;
}

void Connections::Member::close() {
  closed_ = true;
  leave_list();
  --all_.open_;
  stream_.close();
}

void Connections::Member::now(Doing doing) {
  leave_list();
  since_ = all_.loop_.monotonic();
  if (doing == Doing::Waiting) {
    all_.request_bytes_ -= std::exchange(request_bytes_, 0);
    all_.changed_.pulse();
  }
  if (closed_ || doing == Doing::Handling) return;
  list_ = doing == Doing::Waiting ? &client_->second.waiting : &client_->second.reading;
  place_ = list_->insert(list_->end(), this);
}

Task<Result<void>> Connections::Member::take_request(std::size_t bytes) {
  const Monotonic until = all_.loop_.monotonic() + kRoomPatience;
  now(Doing::Handling);  // it is we who make it wait
  while (all_.request_bytes_ > 0 && all_.request_bytes_ + bytes > all_.limits_.request_bytes) {
    if (all_.loop_.monotonic() >= until) {
      co_return fail(Error{.code = ErrorCode::TooManyRequests,
                           .message = "too many large requests at once; try again",
                           .causes = {},
                           .retry_after = std::chrono::seconds(1)});
    }
    CO_TRY(co_await all_.change());
    all_.close_slow_reader();
  }
  all_.request_bytes_ += bytes;
  request_bytes_ += bytes;
  now(Doing::Reading);
  co_return Result<void>{};
}

bool Connections::Member::take_answer(std::size_t bytes) {
  Client& client = client_->second;
  const std::size_t limit = all_.limits_.answer_bytes;
  const std::size_t left = limit - std::min(limit, all_.answer_bytes_);
  // One that is larger than all of the room goes out alone.
  const bool fits = client.answer_bytes + bytes <= left || (client.answer_bytes == 0 && left > 0);
  if (!fits) return false;
  answer_bytes_ += bytes;
  client.answer_bytes += bytes;
  all_.answer_bytes_ += bytes;
  return true;
}

void Connections::Member::give_back_answer() {
  client_->second.answer_bytes -= answer_bytes_;
  all_.answer_bytes_ -= std::exchange(answer_bytes_, 0);
}

}  // namespace muster::net
