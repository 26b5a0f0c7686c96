#pragma once

#include "api/selector.h"
#include "base/error.h"
#include "json/value.h"
#include "server/kinds.h"
#include "server/types.h"

namespace muster::server {

// A selection that was read and found to make sense for its kind.
class Selector {
 public:
  // BadRequest for a selector that cannot be read or a field that the kind cannot be selected by.
  static Result<Selector> make(const Kind& kind, const Selection& selection);

  [[nodiscard]] bool matches(const json::Value& object) const;
  [[nodiscard]] const std::string& ns() const { return namespace_; }

 private:
  std::string namespace_;
  api::LabelSelector labels_;
  api::FieldSelector fields_;
};

}  // namespace muster::server
