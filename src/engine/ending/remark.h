#pragma once

#include <string>
#include <string_view>

#include "engine/census.h"
#include "plan/plan.h"

// What a rank leaves behind for the job's user when it ends: the first line of its termination
// message that begins with plan::kRemark.
namespace muster::engine {

// Of the first rank that has ended with one, among the roles that remark; empty when there is none.
std::string remark_of(const plan::Plan& plan, const Census& census);

// A termination message without its remark.
std::string without_remark(std::string_view message);

}  // namespace muster::engine
