#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"
#include "json/read.h"
#include "yaml/events.h"
#include "yaml/scalar.h"
#include "yaml/yaml.h"

namespace muster::yaml {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";
constexpr std::size_t kQuotedText = 64;  // how much of the input an error repeats

std::string quoted(std::string_view text) {
  return fmt::format("\"{}\"", printable(text.substr(0, kQuotedText)));
}

// !!int and not tag:yaml.org,2002:int: as people write it.
std::string short_tag(std::string_view tag) {
  if (!tag.starts_with(kTagPrefix)) return printable(tag.substr(0, kQuotedText));
  return "!!" + printable(tag.substr(kTagPrefix.size(), kQuotedText));
}

// What a copy of a value costs.
struct Weight {
  std::size_t nodes = 0;
  std::size_t bytes = 0;

  friend Weight operator+(Weight a, Weight b) { return {a.nodes + b.nodes, a.bytes + b.bytes}; }
};

// One pass over a file. Every node is counted when it is made, by an alias too, so that a small
// text cannot become a large value.
class Reader {
 public:
  enum class Lines { Forget, Keep };

  Reader(std::string_view text, const ReadLimits& limits, Lines lines)
      : events_(text), limits_(limits), keeps_lines_(lines == Lines::Keep) {}

  Result<std::vector<Document>> read() {
    std::vector<Document> documents;
    std::size_t count = 0;
    while (true) {
      const Event event = TRY(events_.next());
      if (event.type == EventType::StreamEnd) return documents;
      if (event.type != EventType::DocumentStart) continue;
      if (++count > limits_.documents) {
        return fail_at(event.at, ErrorCode::TooLarge,
                       fmt::format("more than {} documents in one file", limits_.documents));
      }
      Document document = TRY(read_document());
      if (!document.value.is_null()) documents.push_back(std::move(document));
    }
  }

 private:
  struct Anchor {
    json::Value value;
    Weight weight;
    int height = 0;
    bool too_large = false;  // more than an alias may ever make: the value was not kept
  };

  Result<Document> read_document() {
    anchors_.clear();
    nodes_ = 0;
    Event root = TRY(events_.next());
    const std::size_t line = root.at.line;
    Weight weight;
    lines_.clear();
    json::Value value = TRY(read_node(std::move(root), 0, weight));
    return Document{.value = std::move(value), .line = line, .lines = std::move(lines_)};
  }

  // A member or an item of the value at the present path, which begins at `at`.
  Result<json::Value> read_below(std::string_view step, Position at, Event event, int depth,
                                 Weight& weight) {
    if (!keeps_lines_) return read_node(std::move(event), depth, weight);
    const auto before = path_.size();
    if (!path_.empty() && !step.starts_with('[')) path_ += '.';
    path_ += step;
    lines_.emplace(path_, at.line);
    auto value = read_node(std::move(event), depth, weight);
    path_.resize(before);
    return value;
  }

  Result<void> count_nodes(Position at, std::size_t more) {
    nodes_ += more;
    if (nodes_ <= limits_.nodes) return {};
    return fail_at(at, ErrorCode::TooLarge,
                   fmt::format("more than {} values in one document", limits_.nodes));
  }

  // Adds what the node weighs to `weight`.
  Result<json::Value> read_node(Event event, int depth, Weight& weight) {
    if (event.type == EventType::Alias) return expand(event, depth, weight);
    TRY(count_nodes(event.at, 1));
    Weight own{.nodes = 1, .bytes = event.text.size()};
    json::Value value;
    if (event.type == EventType::Scalar) {
      value = TRY(read_scalar(event));
    } else {
      if (depth >= limits_.depth) {
        return fail_at(event.at, ErrorCode::TooLarge,
                       fmt::format("nested deeper than {} levels", limits_.depth));
      }
      value = TRY(event.type == EventType::SequenceStart ? read_sequence(event, depth + 1, own)
                                                         : read_mapping(event, depth + 1, own));
    }
    if (!event.anchor.empty()) TRY(remember(event, value, own));
    weight = weight + own;
    return value;
  }

  Result<json::Value> read_sequence(const Event& start, int depth, Weight& weight) {
    TRY(check_collection_tag(start, "seq"));
    json::Array items;
    while (true) {
      Event event = TRY(events_.next());
      if (event.type == EventType::SequenceEnd) return json::Value(std::move(items));
      const auto at = event.at;
      items.push_back(
          TRY(read_below(fmt::format("[{}]", items.size()), at, std::move(event), depth, weight)));
    }
  }

  Result<json::Value> read_mapping(const Event& start, int depth, Weight& weight) {
    TRY(check_collection_tag(start, "map"));
    json::Object object;
    std::set<std::string, std::less<>> keys;
    std::vector<json::Value> merged;
    while (true) {
      const Event key = TRY(events_.next());
      if (key.type == EventType::MappingEnd) break;
      if (is_merge(key)) {
        TRY(read_merge(key.at, depth, weight, merged));
        continue;
      }
      std::string name = TRY(read_key(key, depth));
      weight.bytes += name.size();
      if (!keys.insert(name).second) {
        return fail_at(key.at, ErrorCode::Parse,
                       fmt::format("key {} appears twice in one mapping", quoted(name)));
      }
      json::Value value = TRY(read_below(name, key.at, TRY(events_.next()), depth, weight));
      object.append(std::move(name), std::move(value));
    }
    // Keys written out win over merged ones, and of these the earlier source wins.
    for (json::Value& source : merged) {
      for (auto& [name, value] : source.object()) {
        if (keys.insert(name).second) object.append(std::move(name), std::move(value));
      }
    }
    return json::Value(std::move(object));
  }

  static bool is_merge(const Event& key) {
    return key.type == EventType::Scalar && key.text == "<<" &&
           (key.plain || key.tag == "tag:yaml.org,2002:merge");
  }

  // The value of <<: a mapping, or a list of mappings.
  Result<void> read_merge(Position at, int depth, Weight& weight,
                          std::vector<json::Value>& merged) {
    json::Value source = TRY(read_node(TRY(events_.next()), depth, weight));
    const auto bad = [&] {
      return fail_at(at, ErrorCode::Parse, "<< merges a mapping or a list of mappings");
    };
    if (source.is_object()) {
      merged.push_back(std::move(source));
    } else if (source.is_array()) {
      for (json::Value& item : source.array()) {
        if (!item.is_object()) return bad();
        merged.push_back(std::move(item));
      }
    } else {
      return bad();
    }
    return {};
  }

  // JSON keys are strings; numbers and booleans are written as their value, as kubectl does.
  Result<std::string> read_key(const Event& event, int depth) {
    Weight weight{.nodes = 1, .bytes = event.text.size()};
    if (event.type == EventType::Scalar || event.type == EventType::Alias) {
      const json::Value key =
          TRY(event.type == EventType::Alias ? expand(event, depth, weight) : read_scalar(event));
      if (!event.anchor.empty() && event.type == EventType::Scalar) {
        TRY(remember(event, key, weight));
      }
      if (key.is_string()) return key.as_string();
      if (key.is_bool()) return std::string(key.as_bool() ? "true" : "false");
      if (key.is_int()) return fmt::format("{}", key.as_int());
      if (key.is_double()) return fmt::format("{}", key.as_double());
      if (key.is_null()) return fail_at(event.at, ErrorCode::Parse, "a key cannot be null");
    }
    return fail_at(event.at, ErrorCode::Parse, "a key cannot be a list or a mapping");
  }

  static Result<void> check_collection_tag(const Event& start, std::string_view expected) {
    if (start.tag.empty() || start.tag == fmt::format("{}{}", kTagPrefix, expected)) return {};
    return fail_at(start.at, ErrorCode::Parse,
                   fmt::format("tag {} is not supported here", short_tag(start.tag)));
  }

  static Result<json::Value> read_scalar(const Event& event) {
    if (event.tag.empty() && !event.plain) return json::Value(event.text);
    std::string_view tag = event.tag;
    if (tag.starts_with(kTagPrefix)) tag.remove_prefix(kTagPrefix.size());
    if (tag == "str" || tag == "timestamp" || tag == "!") return json::Value(event.text);
    Scalar scalar = resolve(event.text);
    if (scalar.type == ScalarType::NotFinite && (tag.empty() || tag == "float")) {
      return fail_at(
          event.at, ErrorCode::Parse,
          fmt::format("{} is a number that JSON does not have; quote it to make it a string",
                      event.text));
    }
    if (tag.empty() || has_type(scalar.type, tag)) return std::move(scalar.value);
    const bool known = tag == "null" || tag == "bool" || tag == "int" || tag == "float";
    return fail_at(
        event.at, ErrorCode::Parse,
        known ? fmt::format("{} is not what {} promises", quoted(event.text), short_tag(event.tag))
              : fmt::format("tag {} is not supported", short_tag(event.tag)));
  }

  static bool has_type(ScalarType type, std::string_view tag) {
    switch (type) {
      case ScalarType::Null:
        return tag == "null";
      case ScalarType::Boolean:
        return tag == "bool";
      case ScalarType::Integer:
        return tag == "int" || tag == "float";
      case ScalarType::Float:
        return tag == "float";
      case ScalarType::String:
      case ScalarType::NotFinite:
        return false;
    }
    return false;
  }

  // Nested anchors each keep a copy, so copies are counted: nodes as in a document, bytes as in a
  // file.
  Result<void> remember(const Event& event, const json::Value& value, Weight weight) {
    Anchor anchor{.weight = weight, .too_large = weight.nodes > limits_.alias_nodes};
    if (!anchor.too_large) {
      anchored_ = anchored_ + weight;
      if (anchored_.nodes > limits_.nodes || anchored_.bytes > limits_.bytes) {
        return fail_at(event.at, ErrorCode::TooLarge, "too much of the file is anchored");
      }
      anchor.value = value;
      anchor.height = height(value);
    }
    anchors_.insert_or_assign(event.anchor, std::move(anchor));
    return {};
  }

  // Levels of lists and mappings in a value.
  static int height(const json::Value& value) {
    if (!value.is_array() && !value.is_object()) return 0;
    int tallest = 0;
    for (const json::Value& item : value.as_array()) tallest = std::max(tallest, height(item));
    for (const auto& [key, member] : value.as_object()) {
      tallest = std::max(tallest, height(member));
    }
    return tallest + 1;
  }

  Result<json::Value> expand(const Event& alias, int depth, Weight& weight) {
    const auto found = anchors_.find(alias.anchor);
    if (found == anchors_.end()) {
      return fail_at(alias.at, ErrorCode::Parse,
                     fmt::format("alias *{} has no anchor before it",
                                 printable(std::string_view(alias.anchor).substr(0, kQuotedText))));
    }
    const Anchor& anchor = found->second;
    expanded_ = expanded_ + anchor.weight;
    if (anchor.too_large || expanded_.nodes > limits_.alias_nodes ||
        expanded_.bytes > limits_.bytes) {
      return fail_at(alias.at, ErrorCode::TooLarge,
                     fmt::format("aliases expand to more than {} values or {} bytes",
                                 limits_.alias_nodes, limits_.bytes));
    }
    if (depth + anchor.height > limits_.depth) {
      return fail_at(alias.at, ErrorCode::TooLarge,
                     fmt::format("nested deeper than {} levels", limits_.depth));
    }
    TRY(count_nodes(alias.at, anchor.weight.nodes));
    weight = weight + anchor.weight;
    return anchor.value;
  }

  EventReader events_;
  const ReadLimits& limits_;
  bool keeps_lines_;
  std::string path_;                                    // of the value that is being read
  std::map<std::string, std::size_t> lines_;            // of the current document
  std::map<std::string, Anchor, std::less<>> anchors_;  // of the current document
  std::size_t nodes_ = 0;                               // of the current document
  Weight anchored_;                                     // of the file
  Weight expanded_;                                     // of the file
};

// JSON has escapes that YAML has not (surrogate pairs), so what looks like JSON is first read as
// such.
bool looks_like_json(std::string_view text) {
  const auto trimmed = trim(text);
  return trimmed.starts_with('{') && trimmed.ends_with('}');
}

std::size_t first_line(std::string_view text) {
  const auto before = text.substr(0, text.find_first_not_of(" \t\r\n"));
  return static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
}

// The text without its byte order mark.
Result<std::string_view> within_limit(std::string_view text, const ReadLimits& limits) {
  if (text.size() > limits.bytes) {
    return fail(ErrorCode::TooLarge,
                fmt::format("{} bytes, at most {} are read", text.size(), limits.bytes));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

}  // namespace

Result<std::vector<Document>> read(std::string_view file, const ReadLimits& limits) {
  const auto text = TRY(within_limit(file, limits));
  if (looks_like_json(text)) {
    auto value =
        json::read(text, {.bytes = limits.bytes, .depth = limits.depth, .nodes = limits.nodes});
    if (value) {
      std::vector<Document> documents;
      documents.push_back({.value = *std::move(value), .line = first_line(text)});
      return documents;
    }
    if (value.error().code == ErrorCode::TooLarge) return fail(std::move(value).error());
  }
  return Reader(text, limits, Reader::Lines::Forget).read();
}

Result<std::vector<Document>> read_with_lines(std::string_view file, const ReadLimits& limits) {
  return Reader(TRY(within_limit(file, limits)), limits, Reader::Lines::Keep).read();
}

}  // namespace muster::yaml
