#pragma once

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

// One to one with the reasons of a Kubernetes Status, plus the few that never cross the wire.
enum class ErrorCode {
  BadRequest,            // 400
  Unauthorized,          // 401
  Forbidden,             // 403
  NotFound,              // 404
  MethodNotAllowed,      // 405
  NotAcceptable,         // 406
  AlreadyExists,         // 409, the object exists
  Conflict,              // 409, the object changed meanwhile, or a precondition failed
  Gone,                  // 410, the resourceVersion is too old
  TooLarge,              // 413
  UnsupportedMediaType,  // 415
  Invalid,               // 422
  TooManyRequests,       // 429
  Internal,              // 500
  Unavailable,           // 503, or the peer cannot be reached
  Timeout,               // 504, or a deadline of ours
  InsufficientStorage,   // 507, the disk that would hold it is full
  Cancelled,             // the scope that waited was closed
  Io,                    // the operating system said no
  Parse,                 // bytes that are not what they should be
};

std::string_view to_string(ErrorCode code);

// What is wrong with one field: where, which rule, and the sentence a person reads.
struct FieldCause {
  std::string field;    // spec.msReplicaSpecs.Worker.replicas
  std::string reason;   // FieldValueInvalid, FieldValueRequired, FieldValueNotSupported, …
  std::string message;  // names the value and what would be right

  friend bool operator==(const FieldCause&, const FieldCause&) = default;
};

// An error is a value with context. A message names the thing, the value and what would be right.
struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message;
  std::vector<FieldCause> causes;
  std::optional<std::chrono::milliseconds> retry_after;

  // The same error with where it happened put in front: "reading job.yaml: …".
  [[nodiscard]] Error in(std::string_view context) const;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{.code = code, .message = std::move(message)});
}

inline std::unexpected<Error> fail(Error error) {
  return std::unexpected(std::move(error));
}

// An Io error that carries what errno says: "open /x: No such file or directory".
std::unexpected<Error> fail_errno(std::string_view what, int error_number);
std::unexpected<Error> fail_errno(std::string_view what);

}  // namespace muster

// TRY(expression) is the value of a Result, or returns its error to the caller.
// Statement expressions are a GNU extension that clang supports; nothing else reads as well. The
// name is numbered because calls may nest.
#define MUSTER_TRY_NAMED(name, expression, return_keyword)     \
  __extension__({                                              \
    auto&& name = (expression);                                \
    if (!name.has_value()) [[unlikely]]                        \
      return_keyword std::unexpected(std::move(name).error()); \
    std::move(name).value();                                   \
  })
#define MUSTER_TRY_JOIN(a, b) a##b
#define MUSTER_TRY_NUMBERED(number, expression, return_keyword) \
  MUSTER_TRY_NAMED(MUSTER_TRY_JOIN(try_result_, number), expression, return_keyword)
#define MUSTER_TRY_IMPL(expression, return_keyword) \
  MUSTER_TRY_NUMBERED(__COUNTER__, expression, return_keyword)
#define TRY(expression) MUSTER_TRY_IMPL(expression, return)
