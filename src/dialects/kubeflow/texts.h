#pragma once

#include <optional>
#include <string>

#include "plan/plan.h"
#include "plan/verdict.h"

// Reasons and sentences of MSJob's conditions and events; people and their scripts read them.
namespace muster::dialects::mindspore {

struct Words {
  std::string reason;
  std::string message;
};

Words created_words(const plan::JobRef& job);
Words running_words(const plan::JobRef& job);
Words restarting_words(const plan::JobRef& job, const std::optional<plan::Cause>& cause);
Words succeeded_words(const plan::JobRef& job);
Words failed_words(const plan::JobRef& job, const std::optional<plan::Cause>& cause);

std::optional<plan::EventText> event_words(const plan::JobRef& job, const plan::Note& note);

}  // namespace muster::dialects::mindspore
