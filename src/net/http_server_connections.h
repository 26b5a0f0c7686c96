#pragma once

#include <list>
#include <map>
#include <string>

#include "net/stream.h"
#include "rt/loop.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::net {

// The connections of one server: whose they are, what they are doing, what they make us hold. When
// there is no room for another one it closes the one that is missed least; what a handler works on
// is never given up. Clients are who the kernel says they are (Stream::client). Lives on the
// server's loop and outlives its members.
class Connections {
 public:
  struct Limits {
    std::size_t connections;
    std::size_t request_bytes;  // of large requests, from their first byte to their answer
    std::size_t answer_bytes;   // of large answers that are not taken yet
  };
  enum class Doing { Waiting, Reading, Handling };
  class Member;

  Connections(rt::Loop& loop, Limits limits) : loop_(loop), limits_(limits), changed_(loop) {}

  [[nodiscard]] std::size_t open() const { return open_; }
  [[nodiscard]] bool has_room() const { return open_ < limits_.connections; }
  // Closes one that waits for its next request: the oldest of the client that has most of them.
  // Without one, a request that has been coming for longer than kReadPatience. False: nobody can
  // go.
  bool make_room();
  // Returns when somebody left or has nothing to do any more, or after a second.
  Task<Result<void>> change();

  // Who sends for longer than this is given up when others wait for its place: 3 MiB in 5 s is
  // 5 Mbit/s.
  static constexpr Duration kReadPatience = std::chrono::seconds(5);
  // A large request that finds no room for so long is told to come again.
  static constexpr Duration kRoomPatience = std::chrono::seconds(10);

 private:
  using Places = std::list<Member*>;
  struct Client {
    std::size_t members = 0;
    Places waiting;  // the oldest first
    Places reading;
    std::size_t answer_bytes = 0;
  };
  using Clients = std::map<std::string, Client>;

  bool close_slow_reader();
  void left();

  rt::Loop& loop_;
  Limits limits_;
  Clients clients_;
  std::size_t open_ = 0;
  std::size_t crowd_ = 0;  // the most that were open at once since memory was last given back
  std::size_t request_bytes_ = 0;
  std::size_t answer_bytes_ = 0;
  rt::Event changed_;
};

// The place of one connection, from accept to its end. The stream outlives it.
class Connections::Member {
 public:
  Member(Connections& all, Stream& stream);
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member();

  // Waiting gives back what a request held.
  void now(Doing doing);
  // Room for the body of a large request. TooManyRequests when there is none for long.
  Task<Result<void>> take_request(std::size_t bytes);
  // Room for a large answer: a client may hold as much as is left free, so that there is always
  // something for the next one.
  [[nodiscard]] bool take_answer(std::size_t bytes);
  void give_back_answer();

 private:
  friend class Connections;
  void leave_list();
  void close();

  Connections& all_;
  Stream& stream_;
  Clients::iterator client_;
  Places* list_ = nullptr;
  Places::iterator place_;
  Monotonic since_;
  std::size_t request_bytes_ = 0;
  std::size_t answer_bytes_ = 0;
  bool closed_ = false;
};

}  // namespace muster::net
