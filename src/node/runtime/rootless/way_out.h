#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

// How a node without root reaches out of the machine: a network of its own has no link to anywhere,
// but the machine may have a program that carries connections for it.
namespace muster::node {

// One such program, and the link of ours that it serves.
struct Carrier {
  const char* program;
  const char* link;
  const char* package;  // Debian's
};
// The first that works is taken.
inline constexpr Carrier kCarriers[] = {{"pasta", "pasta0", "passt"},
                                        {"slirp4netns", "slirp0", "slirp4netns"}};
// That serves the network which the caller is in; null: none.
const Carrier* present_carrier();
// For who has none: "pasta (package passt) or slirp4netns".
std::string carriers_to_install();

// The carrier of a network of our own. It has to be outside of it, so it is started before the
// network is entered and waits; it has no more rights than its user. Nothing is carried inwards,
// and the loopback of the machine is not reached through it. Ends with its owner, and with the
// process and the thread that made it, however those end.
class WayOut {
 public:
  // By the thread that will enter the network. `path`: where programs are looked for. `own_users`:
  // it will enter a user namespace as well.
  static std::unique_ptr<WayOut> prepare(const std::string& path, bool own_users);
  WayOut(const WayOut&) = delete;
  WayOut& operator=(const WayOut&) = delete;
  ~WayOut();

  // Inside: blocks until one of them serves, some 20 ms, and lets pods on a bridge go the same way.
  // NotFound: none is installed; otherwise why they do not work here.
  Result<void> open();
  // A descriptor that can be read once the one that serves has ended.
  [[nodiscard]] Fd ended() const;

 private:
  struct Waiting;
  WayOut();
  std::vector<std::unique_ptr<Waiting>> waiting_;
};

// The last line of what a program said before it gave up, without the time that it may begin with.
std::string last_words(std::string_view text);

}  // namespace muster::node
