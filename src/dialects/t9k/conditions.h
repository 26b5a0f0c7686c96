#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "json/value.h"
#include "plan/ledger.h"
#include "plan/plan.h"

// The conditions of a T9k job: one of each type, in the order in which they are first written.
namespace muster::dialects::t9k {

// What is said of how a job ended, beside the phase.
struct Text {
  std::string reason;
  std::string message;
};

// "Pod[walk-launcher] exited with error code 3", or what else is known of it.
std::string pod_failure(const plan::Cause& cause);
Text failure_text(const plan::Verdict& verdict);

// Brings the stored ones up to date.
json::Array make_conditions(const plan::Plan& plan, const json::Value& stored,
                            const plan::Verdict& verdict, Time now);

}  // namespace muster::dialects::t9k
