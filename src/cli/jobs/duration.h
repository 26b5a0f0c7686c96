#pragma once

#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace muster::cli {

// How long, as people and kubectl write it: 2s, 1m30s, 1.5h, 500ms, 1d; a plain number is seconds.
// BadRequest says what would be right. Never negative, never more than about a hundred years.
Result<Duration> parse_duration(std::string_view text);

// The same in the fewest words: 2s, 1m30s, 500ms.
std::string format_duration(Duration duration);

}  // namespace muster::cli
