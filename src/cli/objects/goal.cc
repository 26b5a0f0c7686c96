#include "cli/objects/goal.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/context.h"
#include "cli/jobs/followed.h"

namespace muster::cli {
namespace {

JobView view_of(const json::Value& object, const plan::Dialect* dialect) {
  return dialect != nullptr ? JobView::from(object, *dialect) : pod_view(object);
}

// Text up to the '=' outside of braces that divides a path from its value.
std::size_t value_sign(std::string_view text) {
  const auto brace = text.rfind('}');
  return text.find('=', brace == std::string_view::npos ? 0 : brace);
}

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == text.back() &&
      (text.front() == '"' || text.front() == '\''))
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

}  // namespace

Result<Goal> Goal::parse(std::string_view text) {
  Goal goal;
  goal.text_ = text;
  if (text == "finished") return goal;
  if (text == "running") {
    goal.kind_ = Kind::Running;
    return goal;
  }
  if (text == "delete") {
    goal.kind_ = Kind::Deletion;
    return goal;
  }
  constexpr std::string_view kCondition = "condition=";
  constexpr std::string_view kPath = "jsonpath=";
  if (text.starts_with(kCondition) && text.size() > kCondition.size()) {
    const std::string_view rest = text.substr(kCondition.size());
    const auto equals = rest.find('=');
    goal.kind_ = Kind::Condition;
    goal.type_ = rest.substr(0, equals);
    goal.value_ = equals == std::string_view::npos ? "True" : std::string(rest.substr(equals + 1));
    if (!goal.type_.empty() && !goal.value_->empty()) return goal;
  }
  if (text.starts_with(kPath) && text.size() > kPath.size()) {
    const std::string_view rest = text.substr(kPath.size());
    const auto equals = value_sign(rest);
    goal.kind_ = Kind::Path;
    goal.path_ = TRY(JsonPath::parse(unquoted(rest.substr(0, equals))));
    if (equals != std::string_view::npos) goal.value_ = unquoted(rest.substr(equals + 1));
    return goal;
  }
  return fail(ErrorCode::BadRequest,
              fmt::format("\"{}\" is nothing to wait for; use finished, running, delete, "
                          "condition=TYPE[=STATUS] or jsonpath=PATH[=VALUE]",
                          printable(text)));
}

Result<void> Goal::fits(const NamedResource& of) const {
  const bool runs = of.dialect != nullptr || of.resource == api::pods();
  if (runs || (kind_ != Kind::Finished && kind_ != Kind::Running)) return {};
  return fail(ErrorCode::BadRequest,
              fmt::format("{} are never {}; say what to wait for: --for=delete, "
                          "--for=condition=TYPE or --for=jsonpath=PATH=VALUE",
                          of.resource.plural, text_));
}

bool Goal::reached(const json::Value& object, const plan::Dialect* dialect) const {
  switch (kind_) {
    case Kind::Deletion:
      return false;
    case Kind::Finished:
      return view_of(object, dialect).finished();
    case Kind::Running: {
      const JobView view = view_of(object, dialect);
      return view.phase == plan::Phase::Running || view.finished();
    }
    case Kind::Condition:
      return std::ranges::any_of(object["status"]["conditions"].as_array(), [&](const auto& one) {
        return equal_ignoring_case(one["type"].as_string(), type_) &&
               equal_ignoring_case(one["status"].as_string(), *value_);
      });
    case Kind::Path: {
      const auto found = path_->find(object);
      return found && std::ranges::any_of(*found, [&](const json::Value* one) {
               return value_ ? shown_result(*one) == *value_ : !one->is_null();
             });
    }
  }
  return false;
}

std::string Goal::shown(const json::Value& object, const plan::Dialect* dialect) const {
  if (kind_ == Kind::Finished || kind_ == Kind::Running || dialect != nullptr)
    return to_lower(view_of(object, dialect).state());
  return "condition met";
}

int Goal::code(const json::Value& object, const plan::Dialect* dialect) const {
  return kind_ == Kind::Finished ? exit_code_for(view_of(object, dialect)) : exit_code::kOk;
}

}  // namespace muster::cli
