#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/check/findings.h"
#include "json/value.h"

// Tables of fields: what checking, the CRD and the documentation of a kind agree on.
namespace muster::dialects {

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
  NumberOrText,  // a whole number, with or without quotes
  Time,
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

// One row of a table.
struct Field {
  std::string_view path;  // replicas, schedulingPolicy.queue, ports[].name, labels.*
  Type type = Type::Object;
  std::string_view fallback;  // the default, as it is documented; it is never written back
  bool required = false;
  std::optional<std::int64_t> minimum;
  std::optional<std::int64_t> maximum;  // of a Map or List: how many it holds
  std::string_view allowed;             // A|B|C; an empty alternative allows the empty string
  Format format = Format::Any;
  Format keys = Format::Any;  // of a Map
  bool nullable = false;      // null is not absence: a rule has something to say of it
  bool secret = false;        // its value is never repeated in a message
  std::string_view hint;      // what would be right, when the rule alone does not say it
  std::string_view doc;       // a sentence, for `kubectl explain`
};

// A field table as a tree, walked together with a value in one pass.
class FieldTable {
 public:
  struct Node {
    std::optional<Field> field;  // the root, and what only leads to others, have none
    std::map<std::string, Node, std::less<>> members;
    std::unique_ptr<Node> each;  // of a Map or List
  };

  FieldTable() = default;
  explicit FieldTable(std::span<const Field> fields) { add("", fields); }

  // Rows below a path; a row of a path that is already there replaces it.
  void add(std::string_view below, std::span<const Field> fields);

  void check(const json::Value& value, const Path& path, Findings& findings) const;
  [[nodiscard]] const Node& root() const { return root_; }

 private:
  Node& node_at(std::string_view path);

  Node root_;
};

}  // namespace muster::dialects
