#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "json/value.h"

// The list of conditions as the Kubeflow operators keep it, and as their users read it: at most one
// entry of a type, and the last entry is the current state.
namespace muster::dialects::kubeflow {

struct Condition {
  std::string_view type;
  bool status = true;
  std::string reason;
  std::string message;
};

// True when a condition of that type is there and its status is True.
bool is_true(const json::Array& conditions, std::string_view type);
bool is_over(const json::Array& conditions);  // Succeeded or Failed

// Sets the condition and moves it to the end. Running and Restarting remove each other; Suspended
// turns both to False, with its own reason; Succeeded and Failed turn all three to False, which
// keep theirs. Nothing changes when status and reason are already so, and nothing changes after the
// end.
void set_condition(json::Array& conditions, const Condition& condition, Time now);

// What a job that goes on waits for is the end of the message of the condition of its phase, and of
// no other.
void tell_waiting(json::Array& conditions, std::string_view phase, std::string_view waiting_for,
                  Time now);

}  // namespace muster::dialects::kubeflow
