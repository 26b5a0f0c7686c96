#include "api/selector.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/names.h"
#include "base/strings.h"
#include "json/write.h"

namespace muster::api {

// Reads the query form of a label selector from left to right.
class LabelSelectorParser {
 public:
  explicit LabelSelectorParser(std::string_view text) : text_(text), rest_(text) {}

  Result<LabelSelector> parse() {
    LabelSelector selector;
    skip_space();
    if (rest_.empty()) return selector;
    while (true) {
      selector.terms_.push_back(TRY(term()));
      skip_space();
      if (rest_.empty()) return selector;
      if (!take(",")) return bad("',' or the end");
    }
  }

 private:
  using Operator = LabelSelector::Operator;
  using Term = LabelSelector::Term;

  [[nodiscard]] std::unexpected<Error> bad(std::string_view wanted) const {
    const auto seen = rest_.empty() ? std::string("the end")
                                    : fmt::format("\"{}\"", printable(rest_.substr(0, 32)));
    return fail(ErrorCode::BadRequest,
                fmt::format("unable to parse label selector \"{}\": found {}, expected {}",
                            printable(text_.substr(0, 128)), seen, wanted));
  }

  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  bool take(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  // Everything up to the next operator, comma, bracket or space; may be empty.
  std::string_view word() {
    skip_space();
    const auto word = rest_.substr(0, rest_.find_first_of(" \t\r\n,()=!<>"));
    rest_.remove_prefix(word.size());
    return word;
  }

  Result<std::string> key() {
    const auto text = word();
    if (text.empty()) return bad("a label key");
    if (const auto problem = check_label_key(text)) {
      return fail(ErrorCode::BadRequest,
                  fmt::format("label key \"{}\" {}", printable(text.substr(0, 128)), *problem));
    }
    return std::string(text);
  }

  Result<std::string> value() {
    const auto text = word();
    if (const auto problem = check_label_value(text)) {
      return fail(ErrorCode::BadRequest,
                  fmt::format("label value \"{}\" {}", printable(text.substr(0, 128)), *problem));
    }
    return std::string(text);
  }

  Result<std::vector<std::string>> value_set() {
    if (!take("(")) return bad("'('");
    std::vector<std::string> values;
    do {
      values.push_back(TRY(value()));
    } while (take(","));
    if (!take(")")) return bad("',' or ')'");
    return values;
  }

  Result<Term> compared(std::string name, Operator op) {
    auto number = TRY(value());
    if (!parse_int(number)) return bad("a whole number to compare with");
    return Term{.key = std::move(name), .op = op, .values = {std::move(number)}};
  }

  Result<Term> term() {
    if (take("!")) return Term{.key = TRY(key()), .op = Operator::Absent};
    std::string name = TRY(key());
    skip_space();
    if (rest_.empty() || rest_.front() == ',') return Term{.key = std::move(name)};
    if (take("!=")) return Term{.key = name, .op = Operator::NotIn, .values = {TRY(value())}};
    if (take("==") || take("=")) {
      return Term{.key = name, .op = Operator::In, .values = {TRY(value())}};
    }
    if (take(">")) return compared(std::move(name), Operator::Greater);
    if (take("<")) return compared(std::move(name), Operator::Less);
    const auto operation = word();
    if (operation == "in") return Term{.key = name, .op = Operator::In, .values = TRY(value_set())};
    if (operation == "notin") {
      return Term{.key = name, .op = Operator::NotIn, .values = TRY(value_set())};
    }
    rest_ = text_.substr(static_cast<std::size_t>(rest_.data() - text_.data()) - operation.size());
    return bad("=, ==, !=, in, notin, < or >");
  }

  std::string_view text_;
  std::string_view rest_;
};

bool LabelSelector::Term::matches(const json::Value& labels) const {
  const json::Value* label = labels.as_object().find(key);
  if (label == nullptr) return op == Operator::NotIn || op == Operator::Absent;
  const std::string& text = label->as_string();
  const auto number = parse_int(text);
  switch (op) {
    case Operator::In:
      return std::ranges::find(values, text) != values.end();
    case Operator::NotIn:
      return std::ranges::find(values, text) == values.end();
    case Operator::Exists:
      return true;
    case Operator::Absent:
      return false;
    case Operator::Greater:
      return number > parse_int(values.front());
    case Operator::Less:
      return number && number < parse_int(values.front());
  }
  return false;
}

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  return LabelSelectorParser(text).parse();
}

LabelSelector LabelSelector::of_labels(const json::Value& labels) {
  LabelSelector selector;
  for (const auto& [key, value] : labels.as_object()) {
    selector.terms_.push_back({.key = key, .op = Operator::In, .values = {value.as_string()}});
  }
  return selector;
}

bool LabelSelector::matches(const json::Value& object) const {
  const json::Value& labels = object["metadata"]["labels"];
  return std::ranges::all_of(terms_, [&](const Term& term) { return term.matches(labels); });
}

namespace {

// Splits at commas that no backslash precedes, and keeps the escapes.
std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  terms.push_back(text.substr(begin));
  return terms;
}

std::unexpected<Error> bad_field_selector(std::string_view term) {
  return fail(ErrorCode::BadRequest,
              fmt::format("invalid field selector \"{}\": a term is path=value or path!=value, and "
                          "'\\', ',' and '=' in a value need a '\\' before them",
                          printable(term.substr(0, 128))));
}

Result<std::string> unescape(std::string_view term, std::string_view value) {
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\') {
      ++i;
      if (i == value.size() || !std::string_view("\\,=").contains(value[i])) {
        return bad_field_selector(term);
      }
    } else if (value[i] == '=') {
      return bad_field_selector(term);
    }
    text += value[i];
  }
  return text;
}

Result<FieldSelector::Term> parse_field_term(std::string_view term) {
  const auto at = term.find('=');
  if (at == std::string_view::npos || at == 0) return bad_field_selector(term);
  const bool equal = term[at - 1] != '!';
  const auto path = term.substr(0, equal ? at : at - 1);
  auto value = term.substr(at + 1);
  if (equal && value.starts_with('=')) value.remove_prefix(1);
  if (path.empty()) return bad_field_selector(term);
  return FieldSelector::Term{
      .path = std::string(path), .value = TRY(unescape(term, value)), .equal = equal};
}

// A field as a selector compares it: absent is the empty string.
std::string text_of(const json::Value& value) {
  if (value.is_string()) return value.as_string();
  return value.is_null() ? std::string() : json::write(value);
}

}  // namespace

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  FieldSelector selector;
  for (const auto term : split_terms(text)) {
    if (term.empty()) continue;
    selector.terms_.push_back(TRY(parse_field_term(term)));
  }
  return selector;
}

bool FieldSelector::matches(const json::Value& object) const {
  return std::ranges::all_of(terms_, [&](const Term& term) {
    return (text_of(object.at_path(term.path)) == term.value) == term.equal;
  });
}

}  // namespace muster::api
