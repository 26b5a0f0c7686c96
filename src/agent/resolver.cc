#include "agent/resolver.h"

#include <ares.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/select.h>

#include <memory>

#include <fmt/format.h>

namespace muster::agent {
namespace {

// A lost packet costs one try; with a search list of three and two families that is 12 s at worst.
constexpr int kTryMilliseconds = 1000;
constexpr int kTries = 2;

struct ChannelDeleter {
  void operator()(ares_channeldata* channel) const { ares_destroy(channel); }
};

struct Answer {
  bool complete = false;
  int status = ARES_SUCCESS;
  std::vector<std::string> addresses;
};

std::string text_of(const ares_addrinfo_node& node) {
  char text[INET6_ADDRSTRLEN] = {};
  const void* bytes = nullptr;
  if (node.ai_family == AF_INET)
    bytes = &reinterpret_cast<const sockaddr_in*>(node.ai_addr)->sin_addr;
  if (node.ai_family == AF_INET6)
    bytes = &reinterpret_cast<const sockaddr_in6*>(node.ai_addr)->sin6_addr;
  if (bytes == nullptr || ::inet_ntop(node.ai_family, bytes, text, sizeof text) == nullptr)
    return {};
  return text;
}

void take_answer(void* argument, int status, int, ares_addrinfo* found) {
  auto& answer = *static_cast<Answer*>(argument);
  answer.complete = true;
  answer.status = status;
  for (auto* node = found == nullptr ? nullptr : found->nodes; node != nullptr;
       node = node->ai_next) {
    if (auto text = text_of(*node); !text.empty()) answer.addresses.push_back(std::move(text));
  }
  if (found != nullptr) ares_freeaddrinfo(found);
}

// Until the answer is there; c-ares has limits of its own.
void wait_for(ares_channeldata* channel, const Answer& answer) {
  while (!answer.complete) {
    fd_set readable;
    fd_set writable;
    FD_ZERO(&readable);
    FD_ZERO(&writable);
    const int count = ares_fds(channel, &readable, &writable);
    if (count == 0) return;
    timeval longest{.tv_sec = 1};
    timeval buffer{};
    auto* limit = ares_timeout(channel, &longest, &buffer);
    if (::select(count, &readable, &writable, nullptr, limit) < 0) {
      FD_ZERO(&readable);
      FD_ZERO(&writable);
    }
    ares_process(channel, &readable, &writable);
  }
}

}  // namespace

Result<std::vector<std::string>> resolve(const std::string& name) {
  ares_options options{.timeout = kTryMilliseconds, .tries = kTries};
  char lookups[] = "fb";  // files, then name servers, whatever nsswitch.conf of the image says
  options.lookups = lookups;
  ares_channeldata* made = nullptr;
  const int wrong =
      ares_init_options(&made, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS);
  if (wrong != ARES_SUCCESS) {
    return fail(ErrorCode::Unavailable,
                fmt::format("the resolver does not start: {}", ares_strerror(wrong)));
  }
  Answer answer;
  const std::unique_ptr<ares_channeldata, ChannelDeleter> channel(made);
  ares_addrinfo_hints hints{.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  ares_getaddrinfo(channel.get(), name.c_str(), nullptr, &hints, take_answer, &answer);
  wait_for(channel.get(), answer);
  if (!answer.addresses.empty()) return std::move(answer.addresses);
  const bool unknown = answer.status == ARES_ENOTFOUND || answer.status == ARES_ENODATA;
  return fail(unknown ? ErrorCode::NotFound : ErrorCode::Unavailable,
              fmt::format("{} has no address{}{}", name, unknown ? "" : ": ",
                          unknown ? "" : ares_strerror(answer.status)));
}

}  // namespace muster::agent
