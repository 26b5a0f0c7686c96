#pragma once

#include <cstdint>
#include <cstring>
#include <expected>
#include <string>
#include <utility>

namespace muster::trainer {

// How the process ends. A job controller decides by these numbers whether a rank is started again.
enum class ExitCode : std::uint8_t {
  Success = 0,
  Failure = 1,        // disk, network or a check failed: another attempt would fail the same way
  Usage = 2,          // the command line or the environment is wrong
  RunningTwice = 97,  // another process holds this rank's lock
  PeerLost = 138,     // retryable by convention: "the user asks for another attempt"
};

struct Error {
  ExitCode exit_code = ExitCode::Failure;
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> failure(std::string message) {
  return std::unexpected(Error{ExitCode::Failure, std::move(message)});
}

[[nodiscard]] inline std::unexpected<Error> usage_error(std::string message) {
  return std::unexpected(Error{ExitCode::Usage, std::move(message)});
}

[[nodiscard]] inline std::unexpected<Error> peer_lost(std::string message) {
  return std::unexpected(Error{ExitCode::PeerLost, std::move(message)});
}

// `what` says what could not be done and to what; the kernel's reason follows it.
[[nodiscard]] inline std::unexpected<Error> system_failure(const std::string& what,
                                                           int error_number) {
  return failure(what + ": " + std::strerror(error_number));
}

}  // namespace muster::trainer

// Unwraps a Result, or returns its error to the caller.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): only a macro can return from its caller
#define TRY(expression)                                      \
  __extension__({                                            \
    auto try_result = (expression);                          \
    if (!try_result) {                                       \
      return std::unexpected(std::move(try_result).error()); \
    }                                                        \
    *std::move(try_result);                                  \
  })
