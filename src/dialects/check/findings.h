#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "plan/unknown_field.h"

// What the checks of an object say: which field, which rule, and the sentence for a person.
namespace muster::dialects {

// A rule that a field can break; `reason` is Kubernetes' word for that kind of mistake.
struct Rule {
  std::string_view id;
  std::string_view reason;

  friend bool operator==(const Rule& a, const Rule& b) { return a.id == b.id; }
};

namespace rules {
inline constexpr Rule kType{"type", "FieldValueTypeInvalid"};
inline constexpr Rule kRequired{"required", "FieldValueRequired"};
inline constexpr Rule kMinimum{"minimum", "FieldValueInvalid"};
inline constexpr Rule kMaximum{"maximum", "FieldValueInvalid"};
inline constexpr Rule kOneOf{"one-of", "FieldValueNotSupported"};
inline constexpr Rule kDnsLabel{"dns-label", "FieldValueInvalid"};
inline constexpr Rule kEnvName{"env-name", "FieldValueInvalid"};
inline constexpr Rule kPortName{"port-name", "FieldValueInvalid"};
inline constexpr Rule kLabelKey{"label-key", "FieldValueInvalid"};
inline constexpr Rule kLabelValue{"label-value", "FieldValueInvalid"};
inline constexpr Rule kHostPath{"host-path", "FieldValueInvalid"};
inline constexpr Rule kQuantity{"quantity", "FieldValueInvalid"};
inline constexpr Rule kResourceName{"resource-name", "FieldValueInvalid"};

// Those of a table of fields; the families list theirs beside them.
inline constexpr std::array kOfFields = {
    kType,     kRequired, kMinimum,    kMaximum,  kOneOf,    kDnsLabel,     kEnvName,
    kPortName, kLabelKey, kLabelValue, kHostPath, kQuantity, kResourceName,
};
}  // namespace rules

// Where a field is, as a person writes it: spec.replicaSpecs.Worker.template.spec.containers[0].
class Path {
 public:
  Path() = default;
  explicit Path(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] Path operator/(std::string_view member) const;
  [[nodiscard]] Path operator[](std::size_t index) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct Violation {
  std::string path;
  Rule rule;
  std::string message;  // names the value and what would be right

  [[nodiscard]] FieldCause cause() const;
};

// What the checks of one object found. Bounded: nobody reads the hundredth mistake.
struct Findings {
  static constexpr std::size_t kMostViolations = 100;
  static constexpr std::size_t kMostUnknown = 20;

  std::vector<Violation> violations;
  std::vector<plan::UnknownField> unknown;

  void refuse(const Path& path, const Rule& rule, std::string message);
  void note_unknown(const Path& path, std::string_view meant);
};

}  // namespace muster::dialects
