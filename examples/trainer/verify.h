#pragma once

#include <limits>
#include <span>

#include "trainer/command_line.h"
#include "trainer/error.h"

namespace muster::trainer {

// The greatest difference between two parameters at the same place; infinite if the sizes differ or
// a value is not a number.
[[nodiscard]] double greatest_difference(std::span<const double> left,
                                         std::span<const double> right);

// Both print what they find, one line for each check. False if a check failed.
[[nodiscard]] Result<bool> compare(const CompareCommand& command);
[[nodiscard]] Result<bool> verify(const VerifyCommand& command);

}  // namespace muster::trainer
