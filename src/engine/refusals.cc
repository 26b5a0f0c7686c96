#include "engine/refusals.h"

#include <fmt/format.h>

namespace muster::engine {
namespace {

plan::Cause fatal(plan::CauseKind kind, const Refusal& refusal, std::string text) {
  return {.kind = kind, .role = refusal.role, .index = refusal.index, .text = std::move(text)};
}

bool mentions(const Error& error, std::string_view text) {
  return error.message.find(text) != std::string::npos;
}

// Adds one refusal to what is known so far; a fatal one ends the job whatever the others say.
void weigh(const Refusal& refusal, RefusalMeaning& meaning) {
  const Error& error = refusal.error;
  switch (error.code) {
    case ErrorCode::AlreadyExists:
      if (refusal.terminating) {
        meaning.waiting_for =
            fmt::format("{} {} of another owner is being deleted", refusal.kind, refusal.name);
      } else if (refusal.foreign && !meaning.fatal) {
        meaning.fatal = fatal(
            plan::CauseKind::ForeignObject, refusal,
            fmt::format("{} {} exists and belongs to somebody else; delete it or rename the job",
                        refusal.kind, refusal.name));
      }
      return;
    case ErrorCode::Invalid:
    case ErrorCode::BadRequest:
    case ErrorCode::TooLarge:
      if (!meaning.fatal) meaning.fatal = fatal(plan::CauseKind::Rejected, refusal, error.message);
      return;
    case ErrorCode::Forbidden:
      if (mentions(error, "is being terminated")) {
        meaning.stop = true;
      } else if (mentions(error, "exceeded quota")) {
        meaning.waiting_for = error.message;
      } else if (!meaning.fatal) {
        meaning.fatal = fatal(plan::CauseKind::Rejected, refusal, error.message);
      }
      return;
    default:
      // Whatever else went wrong is tried again.
      meaning.waiting_for = error.message;
  }
}

}  // namespace

RefusalMeaning weigh(const std::vector<Refusal>& refusals) {
  RefusalMeaning meaning;
  for (const Refusal& refusal : refusals) weigh(refusal, meaning);
  return meaning;
}

}  // namespace muster::engine
