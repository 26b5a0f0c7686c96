#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "json/value.h"
#include "plan/dialect.h"

// The status of a Job, as Kubernetes' own controller writes it.
namespace muster::dialects::batch {

// The pods of a Job are one role.
inline constexpr std::string_view kRole = "Pod";

// What kinds differ in whose status is that of a Job.
struct StatusForm {
  std::string_view role = kRole;  // whose pods are counted
  bool indexed = false;
  bool in_brief =
      false;  // as Jobs had it before they told of pods that are ready or on their way out
};

json::Value make_status(const plan::Plan& plan, const StatusForm& form, const json::Value& stored,
                        const plan::Verdict& verdict, Time now);
plan::StoredPhase phase_of(const json::Value& status);
std::optional<plan::EventText> event_for(const plan::Note& note);

// "0,2-4": two that follow each other are listed, three are a range.
std::string index_text(const plan::IndexSet& indexes, int below);

// What kubectl prints in a column.
std::string cell(const json::Value& job, std::string_view column, Time now);

}  // namespace muster::dialects::batch
