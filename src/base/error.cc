#include "base/error.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace muster {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::BadRequest:
      return "BadRequest";
    case ErrorCode::Unauthorized:
      return "Unauthorized";
    case ErrorCode::Forbidden:
      return "Forbidden";
    case ErrorCode::NotFound:
      return "NotFound";
    case ErrorCode::MethodNotAllowed:
      return "MethodNotAllowed";
    case ErrorCode::NotAcceptable:
      return "NotAcceptable";
    case ErrorCode::AlreadyExists:
      return "AlreadyExists";
    case ErrorCode::Conflict:
      return "Conflict";
    case ErrorCode::Gone:
      return "Expired";
    case ErrorCode::TooLarge:
      return "RequestEntityTooLarge";
    case ErrorCode::UnsupportedMediaType:
      return "UnsupportedMediaType";
    case ErrorCode::Invalid:
      return "Invalid";
    case ErrorCode::TooManyRequests:
      return "TooManyRequests";
    case ErrorCode::Internal:
      return "InternalError";
    case ErrorCode::Unavailable:
      return "ServiceUnavailable";
    case ErrorCode::Timeout:
      return "Timeout";
    case ErrorCode::InsufficientStorage:
      return "InsufficientStorage";
    case ErrorCode::Cancelled:
      return "Cancelled";
    case ErrorCode::Io:
      return "Io";
    case ErrorCode::Parse:
      return "Parse";
  }
  return "Unknown";
}

Error Error::in(std::string_view context) const {
  Error copy = *this;
  copy.message = fmt::format("{}: {}", context, message);
  return copy;
}

namespace {

// The kernel's own sentence, which takes neither memory nor a descriptor to find.
std::string_view description_of(int error_number) {
  const char* sentence = ::strerrordesc_np(error_number);
  return sentence == nullptr ? "unknown error" : sentence;
}

}  // namespace

std::unexpected<Error> fail_errno(std::string_view what, int error_number) {
  // Something can be done about it, and then the same works: not like other errors of a disk.
  const bool full = error_number == ENOSPC || error_number == EDQUOT;
  return fail(full ? ErrorCode::InsufficientStorage : ErrorCode::Io,
              fmt::format("{}: {}", what, description_of(error_number)));
}

std::unexpected<Error> fail_errno(std::string_view what) {
  return fail_errno(what, errno);
}

}  // namespace muster
