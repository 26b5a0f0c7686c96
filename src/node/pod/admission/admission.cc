#include "node/pod/admission/admission.h"

#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "json/write.h"

namespace muster::node {

namespace admission {

namespace {

constexpr std::string_view kBelow = ".**";
constexpr std::size_t kLongestValue = 60;

struct Index {
  std::map<std::string, const FieldRule*, std::less<>> exact;
  std::map<std::string, const FieldRule*, std::less<>> below;
};

Index make_index() {
  Index out;
  for (const auto& group : all_rules()) {
    for (const auto& rule : group.rules) {
      for (auto path : expanded(rule.path)) {
        const bool below = path.ends_with(kBelow);
        if (below) path.resize(path.size() - kBelow.size());
        (below ? out.below : out.exact)[std::move(path)] = &rule;
      }
    }
  }
  return out;
}

const Index& index() {
  static const Index made = make_index();
  return made;
}

const FieldRule* found_in(const std::map<std::string, const FieldRule*, std::less<>>& rules,
                          std::string_view path) {
  const auto found = rules.find(path);
  return found == rules.end() ? nullptr : found->second;
}

// Nothing was said: what a field has that nobody wrote.
bool is_nothing(const json::Value& value) {
  if (value.is_null()) return true;
  if (value.is_bool()) return !value.as_bool();
  if (value.is_int()) return value.as_int() == 0;
  if (value.is_string()) return value.as_string().empty();
  if (value.is_array()) return value.as_array().empty();
  return value.is_object() && value.as_object().empty();
}

std::string shown(const json::Value& value) {
  if (value.is_object()) return "";
  const auto text = value.is_string() ? value.as_string() : json::write(value);
  return ": " + shortened(printable(text), kLongestValue);
}

class Walk {
 public:
  explicit Walk(const json::Value& pod) : pod_(pod) {}

  std::optional<PodFailure> run() {
    static const json::Value nobody;
    container_ = &nobody;
    visit(pod_["spec"], "", "spec");
    return std::move(refusal_);
  }

 private:
  // `path` is the field's in the table, `at` the one that people write.
  void visit(const json::Value& value, const std::string& path, const std::string& at) {
    if (refusal_ || value.is_null()) return;
    if (const auto* rule = rule_of(path)) {
      apply(*rule, value, at);
      return;
    }
    if (value.is_object()) {
      for (const auto& [name, member] : value.as_object()) {
        const auto below = path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
        visit(member, below, fmt::format("{}.{}", at, name));
      }
    } else if (value.is_array()) {
      visit_elements(value.as_array(), path, at);
    }
  }

  void visit_elements(const json::Array& list, const std::string& path, const std::string& at) {
    const bool containers = path == "containers" || path == "initContainers";
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto* const outside = container_;
      if (containers) container_ = &list[i];
      visit(list[i], path + "[]", fmt::format("{}[{}]", at, i));
      container_ = outside;
    }
  }

  void apply(const FieldRule& rule, const json::Value& value, const std::string& at) {
    const Site site{.pod = pod_, .container = *container_};
    const bool refused = rule.refuses != nullptr ? rule.refuses(value, site)
                                                 : rule.fate == Fate::Refused && !is_nothing(value);
    if (!refused) return;
    refusal_ = {.reason = std::string(rule.reason),
                .message = fmt::format("{}{} cannot be obeyed by this node: {}", at, shown(value),
                                       rule.remedy.empty() ? rule.note : rule.remedy)};
  }

  const json::Value& pod_;
  const json::Value* container_ = nullptr;
  std::optional<PodFailure> refusal_;
};

}  // namespace

std::vector<std::string> expanded(std::string_view pattern) {
  const auto open = pattern.find('{');
  if (open == std::string_view::npos) return {std::string(pattern)};
  const auto close = pattern.find('}', open);
  std::vector<std::string> out;
  for (const auto choice : split(pattern.substr(open + 1, close - open - 1), ',')) {
    for (const auto& rest : expanded(pattern.substr(close + 1))) {
      out.push_back(fmt::format("{}{}{}", pattern.substr(0, open), choice, rest));
    }
  }
  return out;
}

const FieldRule* rule_of(std::string_view path, bool below) {
  const auto find = [below](std::string_view wanted) {
    const auto* covering = found_in(index().below, wanted);
    return covering != nullptr || below ? covering : found_in(index().exact, wanted);
  };
  if (const auto* rule = find(path)) return rule;
  constexpr std::string_view kInit = "initContainers[]";
  if (!path.starts_with(kInit)) return nullptr;
  return find("containers[]" + std::string(path.substr(kInit.size())));
}

}  // namespace admission

std::optional<PodFailure> refusal_of(const json::Value& pod) {
  return admission::Walk(pod).run();
}

}  // namespace muster::node
