#pragma once

#include <cstddef>
#include <string_view>

#include "base/error.h"
#include "base/limits.h"
#include "json/value.h"

namespace muster::json {

struct ReadLimits {
  std::size_t bytes = limits::kMaxDocumentBytes;
  int depth = limits::kMaxDepth;
  std::size_t nodes = limits::kMaxNodes;
};

// What we ask of a server of our own choosing: large lists are legitimate there.
inline constexpr ReadLimits kAnswerLimits{
    .bytes = limits::kMaxResponseBytes, .depth = limits::kMaxDepth, .nodes = 4'000'000};

// Reads one document. Bounded in size, depth and number of values; strict UTF-8; a repeated key
// within one object is an error, because two readers would disagree on which one counts.
Result<Value> read(std::string_view text, const ReadLimits& limits = {});

}  // namespace muster::json
