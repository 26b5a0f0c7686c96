#include "cli/query/jsonpath.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/query/syntax.h"
#include "json/write.h"

namespace muster::cli {
namespace query {
namespace {

using Values = std::vector<const json::Value*>;

// A list of 10,000 pods has some 3 million values; .. over all of it twice is a mistake.
constexpr std::size_t kMostResults = 5'000'000;

class Evaluation {
 public:
  Result<Values> find(const Path& path, const json::Value& root, const json::Value& current) {
    Values values = {path.from_root ? &root : &current};
    for (const Step& step : path.steps) {
      Values next;
      for (const json::Value* value : values) {
        std::visit([&](const auto& what) { take(what, root, *value, next); }, step.what);
        if (spent_ + next.size() > kMostResults) return too_much();
      }
      spent_ += next.size();
      values = std::move(next);
    }
    if (failed_) return too_much();
    return values;
  }

 private:
  static std::unexpected<Error> too_much() {
    return fail(ErrorCode::TooLarge,
                fmt::format("the JSONPath finds more than {} values", kMostResults));
  }

  // Along "a.b"; null when it ends on the way.
  static const json::Value* walk(const json::Value& from, std::string_view dotted) {
    const json::Value* at = &from;
    for (const std::string_view name : split(dotted, '.')) {
      at = at->as_object().find(name);
      if (at == nullptr) break;
    }
    return at;
  }

  void take(const Field& field, const json::Value&, const json::Value& from, Values& into) {
    const json::Value* member = from.as_object().find(field.name);
    if (member == nullptr && field.quoted) member = walk(from, field.name);
    if (member != nullptr) into.push_back(member);
  }

  void take(const Wildcard&, const json::Value&, const json::Value& from, Values& into) {
    for (const auto& element : from.as_array()) into.push_back(&element);
    for (const auto& [name, member] : from.as_object()) into.push_back(&member);
  }

  void take(const Descent& descent, const json::Value& root, const json::Value& from,
            Values& into) {
    if (spent_ + into.size() > kMostResults) return;
    into.push_back(&from);
    for (const auto& element : from.as_array()) take(descent, root, element, into);
    for (const auto& [name, member] : from.as_object()) take(descent, root, member, into);
  }

  void take(const Slice& slice, const json::Value&, const json::Value& from, Values& into) {
    const auto& elements = from.as_array();
    const auto size = static_cast<std::int64_t>(elements.size());
    const auto place = [&](std::int64_t at) { return at < 0 ? at + size : at; };
    if (slice.single) {
      const auto at = place(*slice.from);
      if (at >= 0 && at < size) into.push_back(&elements[static_cast<std::size_t>(at)]);
      return;
    }
    const auto begin = std::max<std::int64_t>(place(slice.from.value_or(0)), 0);
    const auto end = std::min(slice.to ? place(*slice.to) : size, size);
    for (auto at = begin; at < end; at += std::min(slice.by, size))
      into.push_back(&elements[static_cast<std::size_t>(at)]);
  }

  void take(const Union& all, const json::Value& root, const json::Value& from, Values& into) {
    for (const auto& part : all.parts)
      std::visit([&](const auto& one) { take(one, root, from, into); }, part);
  }

  void take(const std::shared_ptr<const Filter>& filter, const json::Value& root,
            const json::Value& from, Values& into) {
    for (const auto& element : from.as_array()) {
      if (holds(*filter, root, element)) into.push_back(&element);
    }
  }

  bool holds(const Filter& filter, const json::Value& root, const json::Value& element) {
    const Values left = values_of(filter.left, root, element);
    if (filter.comparison == Comparison::Exists) return !left.empty();
    const Values right = values_of(filter.right, root, element);
    if (left.empty() || right.empty())
      return filter.comparison == Comparison::NotEqual && left.size() != right.size();
    return compare(*left.front(), filter.comparison, *right.front());
  }

  Values values_of(const Operand& operand, const json::Value& root, const json::Value& element) {
    if (const auto* literal = std::get_if<json::Value>(&operand)) return {literal};
    auto found = find(std::get<Path>(operand), root, element);
    if (!found) failed_ = true;
    return found ? std::move(*found) : Values{};
  }

  static bool compare(const json::Value& a, Comparison how, const json::Value& b) {
    std::partial_ordering order = std::partial_ordering::unordered;
    if (a.is_number() && b.is_number())
      order = a.as_double() <=> b.as_double();
    else if (a.is_string() && b.is_string())
      order = a.as_string() <=> b.as_string();
    else if (a == b)
      order = std::partial_ordering::equivalent;
    switch (how) {
      case Comparison::Equal:
        return order == std::partial_ordering::equivalent;
      case Comparison::NotEqual:
        return order != std::partial_ordering::equivalent;
      case Comparison::Less:
        return order == std::partial_ordering::less;
      case Comparison::LessOrEqual:
        return order == std::partial_ordering::less || order == std::partial_ordering::equivalent;
      case Comparison::Greater:
        return order == std::partial_ordering::greater;
      case Comparison::GreaterOrEqual:
        return order == std::partial_ordering::greater ||
               order == std::partial_ordering::equivalent;
      case Comparison::Exists:
        return true;
    }
    return false;
  }

  std::size_t spent_ = 0;
  bool failed_ = false;
};

// What a template writes. A range inside a range multiplies: its text has a limit as well.
class Writer {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20U;

  Result<void> write(const std::vector<Piece>& pieces, const json::Value& current) {
    for (const Piece& piece : pieces) {
      TRY(std::visit([&](const auto& one) { return write_piece(one, current); }, piece));
      if (out_.size() > kMostBytes)
        return fail(ErrorCode::TooLarge, "the JSONPath template writes more than 256 MiB");
    }
    return {};
  }
  std::string take() { return std::move(out_); }

 private:
  Result<void> write_piece(const Text& text, const json::Value&) {
    out_ += text.text;
    return {};
  }
  // Inside of a range a path begins at the element that it has come to.
  Result<void> write_piece(const Path& path, const json::Value& current) {
    const Values found = TRY(evaluation_.find(path, current, current));
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i > 0) out_ += ' ';
      out_ += shown_result(*found[i]);
    }
    return {};
  }
  Result<void> write_piece(const std::shared_ptr<const Range>& range, const json::Value& current) {
    for (const json::Value* one : TRY(evaluation_.find(range->over, current, current)))
      TRY(write(range->body, *one));
    return {};
  }

  Evaluation evaluation_;
  std::string out_;
};

}  // namespace
}  // namespace query

Result<JsonPath> JsonPath::parse(std::string_view text) {
  JsonPath made;
  made.path_ = std::make_shared<const query::Path>(TRY(query::parse_path(text)));
  return made;
}

Result<std::vector<const json::Value*>> JsonPath::find(const json::Value& root) const {
  return query::Evaluation().find(*path_, root, root);
}

Result<JsonPathTemplate> JsonPathTemplate::parse(std::string_view text) {
  JsonPathTemplate made;
  made.template_ = std::make_shared<const query::Template>(TRY(query::parse_template(text)));
  return made;
}

Result<std::string> JsonPathTemplate::apply(const json::Value& root) const {
  query::Writer writer;
  TRY(writer.write(template_->pieces, root));
  return writer.take();
}

std::string shown_result(const json::Value& value) {
  return value.is_string() ? value.as_string() : json::write(value);
}

}  // namespace muster::cli
