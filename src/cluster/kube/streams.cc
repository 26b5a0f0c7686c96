#include "cluster/kube/streams.h"

#include "cluster/kube/answers.h"

namespace muster::cluster::kube {
namespace {

// What the caller of a watch can do about an error is to resume or to start over.
Error as_watch_error(Error error) {
  switch (error.code) {
    case ErrorCode::Gone:
    case ErrorCode::Unavailable:
    case ErrorCode::Cancelled:
      return error;
    case ErrorCode::Timeout:
    case ErrorCode::TooManyRequests:
      error.code = ErrorCode::Unavailable;
      return error;
    default:
      // Resuming would bring the same bytes again.
      error.code = ErrorCode::Gone;
      return error;
  }
}

}  // namespace

Task<Result<WatchEvent>> KubeWatch::next() {
  while (true) {
    if (const auto line = splitter_.next()) {
      auto event = read_event(*line);
      if (!event) co_return fail(as_watch_error(std::move(event).error()));
      co_return std::move(*event);
    }
    auto chunk = co_await stream_->next();
    if (!chunk) co_return fail(as_watch_error(std::move(chunk).error()));
    if (!*chunk) co_return fail(ErrorCode::Unavailable, "the server ended the watch");
    if (auto fed = splitter_.feed(**chunk); !fed)
      co_return fail(as_watch_error(std::move(fed).error()));
  }
}

}  // namespace muster::cluster::kube
