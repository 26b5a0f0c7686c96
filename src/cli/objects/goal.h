#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/jobs/resource_names.h"
#include "cli/query/jsonpath.h"
#include "json/value.h"

namespace muster::cli {

// What `wait` waits for: finished, running, delete, condition=TYPE[=STATUS] or
// jsonpath=PATH[=VALUE].
class Goal {
 public:
  static Result<Goal> parse(std::string_view text);

  [[nodiscard]] bool is_deletion() const { return kind_ == Kind::Deletion; }
  // As it was written.
  [[nodiscard]] const std::string& text() const { return text_; }
  // BadRequest when such a thing never gets there: only jobs and pods finish.
  [[nodiscard]] Result<void> fits(const NamedResource& of) const;
  // `dialect` is that of a job, null for anything else.
  [[nodiscard]] bool reached(const json::Value& object, const plan::Dialect* dialect) const;
  // What became of it, once it is reached: succeeded, or "condition met".
  [[nodiscard]] std::string shown(const json::Value& object, const plan::Dialect* dialect) const;
  // That of what has finished; 0 for every other goal.
  [[nodiscard]] int code(const json::Value& object, const plan::Dialect* dialect) const;

 private:
  enum class Kind { Finished, Running, Deletion, Condition, Path };
  Kind kind_ = Kind::Finished;
  std::string text_;
  std::string type_;                  // of the condition
  std::optional<std::string> value_;  // of the condition, or of what the path finds
  std::optional<JsonPath> path_;
};

}  // namespace muster::cli
