#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/value.h"

// Checking a raw object against a table of fields. What every kind needs; it names none.
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
}  // namespace rules

// Where a field is, as a person writes it: spec.msReplicaSpecs.Worker.template.spec.containers[0].
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
  std::vector<std::string> unknown;  // a sentence for each field that we do not know

  void refuse(const Path& path, const Rule& rule, std::string message);
  void note_unknown(const Path& path, std::string_view suggestion);
};

enum class Type {
  Object,  // the table lists its members; any other is unknown, kept and reported
  Open,    // an object that may hold more than the table lists
  Map,     // any keys; the values are the table's `*`
  List,    // the elements are the table's `[]`
  String,
  Int32,
  Int64,
  Bool,
  Quantity,
};

enum class Format {
  Any,
  DnsLabel,
  EnvName,
  PortName,
  LabelKey,
  LabelValue,
  HostPath,
  ResourceName
};

// One row of a kind's field table: what decoding, validation, the CRD and the documentation agree
// on.
struct Field {
  std::string_view path;  // spec.msReplicaSpecs.*.replicas, ports[].name
  Type type = Type::Object;
  std::string_view fallback;  // the default, as it is documented; it is never written back
  bool required = false;
  std::optional<std::int64_t> minimum;
  std::optional<std::int64_t> maximum;
  std::string_view allowed;  // A|B|C; an empty alternative allows the empty string
  Format format = Format::Any;
  Format keys = Format::Any;  // of a Map
  bool secret = false;        // its value is never repeated in a message
  std::string_view hint;      // what would be right, when the rule alone does not say it
};

// A field table as a tree, walked together with the value in one pass.
class FieldTable {
 public:
  explicit FieldTable(std::span<const Field> fields);

  void check(const json::Value& value, const Path& path, Findings& findings) const;

 private:
  struct Node {
    const Field* field = nullptr;
    std::map<std::string, Node, std::less<>> members;
    std::unique_ptr<Node> each;  // of a Map or List
  };

  static void check_node(const Node& node, const json::Value& value, const Path& path,
                         Findings& findings);
  static void check_members(const Node& node, const json::Object& object, const Path& path,
                            Findings& findings);

  Node root_;
};

// The candidate that the user most likely meant; empty when none is near.
std::string_view nearest(std::string_view written, const std::vector<std::string_view>& candidates);
// "; did you mean X?" or nothing.
std::string did_you_mean(std::string_view written, const std::vector<std::string_view>& candidates);

// A value as it may stand in a message: short, on one line, printable.
std::string shown(const json::Value& value);
std::string in_quotes(std::string_view text);

}  // namespace muster::dialects
