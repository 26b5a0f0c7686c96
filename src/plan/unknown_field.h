#pragma once

#include <string>

namespace muster::plan {

// A field of a job that its kind does not know: it is kept, and nobody obeys it.
struct UnknownField {
  std::string path;   // spec.runPolicy.cleanPodPolcy
  std::string meant;  // cleanPodPolicy: what was probably meant; empty: nothing is near

  friend bool operator==(const UnknownField&, const UnknownField&) = default;
};

}  // namespace muster::plan
