#include "cli/query/syntax.h"

#include <charconv>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cli::query {
namespace {

// Nobody writes more by hand; every level of nesting is a call.
constexpr std::size_t kMostBytes = std::size_t{64} << 10U;
constexpr int kDeepest = 32;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Path> whole_path() {
    TRY(check_size());
    Path path = TRY(in_braces() ? braced_path() : this->path(""));
    skip_spaces();
    if (!at_end()) return wrong("nothing more after the path");
    return path;
  }

  Result<Template> whole_template() {
    TRY(check_size());
    Template whole;
    if (text_.find('{') == std::string_view::npos && !text_.empty()) {
      whole.pieces.emplace_back(TRY(path("")));
      skip_spaces();
      if (!at_end()) return wrong("nothing more after the path");
      return whole;
    }
    whole.pieces = TRY(pieces(Inside::Nothing));
    return whole;
  }

 private:
  enum class Inside { Nothing, Range };

  Result<void> check_size() const {
    if (text_.size() <= kMostBytes) return {};
    return fail(ErrorCode::BadRequest,
                fmt::format("a JSONPath has at most {} bytes, not {}", kMostBytes, text_.size()));
  }

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char here() const { return at_end() ? '\0' : text_[at_]; }
  [[nodiscard]] bool sees(std::string_view what) const {
    return text_.substr(at_).starts_with(what);
  }
  bool take(std::string_view what) {
    if (!sees(what)) return false;
    at_ += what.size();
    return true;
  }
  void skip_spaces() {
    while (!at_end() && is_space(here())) ++at_;
  }
  [[nodiscard]] bool in_braces() {
    skip_spaces();
    return here() == '{';
  }
  [[nodiscard]] std::unexpected<Error> wrong(std::string_view wanted) const {
    const std::string found =
        at_end() ? "its end" : fmt::format("\"{}\"", printable(shortened(text_.substr(at_), 20)));
    return fail(ErrorCode::BadRequest, fmt::format("JSONPath \"{}\": {} is wanted at {}",
                                                   printable(shortened(text_, 80)), wanted, found));
  }

  Result<Path> braced_path() {
    take("{");
    Path inner = TRY(path("}"));
    skip_spaces();
    if (!take("}")) return wrong("}");
    return inner;
  }

  // Text and actions up to the end of the template, or of the range that we are in.
  Result<std::vector<Piece>> pieces(Inside inside) {
    if (++depth_ > kDeepest) return wrong(fmt::format("at most {} ranges in each other", kDeepest));
    std::vector<Piece> found;
    while (!at_end()) {
      if (here() != '{') {
        const auto brace = text_.find('{', at_);
        found.emplace_back(Text{std::string(text_.substr(at_, brace - at_))});
        at_ = brace == std::string_view::npos ? text_.size() : brace;
        continue;
      }
      take("{");
      skip_spaces();
      if (take_word("end")) {
        if (inside == Inside::Nothing) return wrong("a {range PATH} before {end}");
        TRY(close_brace());
        --depth_;
        return found;
      }
      TRY(action(found));
    }
    if (inside == Inside::Range) return wrong("{end} of the range");
    --depth_;
    return found;
  }

  Result<void> action(std::vector<Piece>& found) {
    if (take_word("range")) {
      auto range = std::make_shared<Range>();
      skip_spaces();
      range->over = TRY(path("}"));
      TRY(close_brace());
      range->body = TRY(pieces(Inside::Range));
      found.emplace_back(std::move(range));
      return {};
    }
    // Several things in one pair of braces: {.a "\t" .b}
    while (true) {
      skip_spaces();
      if (here() == '}' || at_end()) break;
      if (here() == '"' || here() == '\'') {
        found.emplace_back(Text{TRY(quoted())});
      } else {
        found.emplace_back(TRY(path("}")));
      }
    }
    return close_brace();
  }

  bool take_word(std::string_view word) {
    const auto after = at_ + word.size();
    if (!sees(word)) return false;
    if (after < text_.size() && !is_space(text_[after]) && text_[after] != '}') return false;
    at_ = after;
    return true;
  }

  Result<void> close_brace() {
    skip_spaces();
    if (!take("}")) return wrong("}");
    return {};
  }

  // Up to a space or one of `ends`.
  Result<Path> path(std::string_view ends) {
    if (++depth_ > kDeepest) return wrong(fmt::format("at most {} paths in each other", kDeepest));
    skip_spaces();
    Path found;
    const auto from = at_;
    if (take("@"))
      found.from_root = false;
    else
      take("$");
    while (!at_end() && !is_space(here()) && ends.find(here()) == std::string_view::npos)
      TRY(step(found, at_ == from));
    if (at_ == from) return wrong("a path like .metadata.name");
    --depth_;
    return found;
  }

  Result<void> step(Path& path, bool first) {
    if (take("..")) {
      path.steps.push_back({Descent{}});
      if (here() == '[') return {};
      return member(path);
    }
    if (here() == '[') return bracket(path);
    if (take(".")) {
      // "." alone is everything, and ".[0]" is "[0]".
      if (at_end() || is_space(here()) || here() == '}' || here() == '[' || here() == ')')
        return {};
      return member(path);
    }
    if (first) return member(path);  // metadata.name
    return wrong(". or [");
  }

  Result<void> member(Path& path) {
    if (take("*")) {
      path.steps.push_back({Wildcard{}});
      return {};
    }
    std::string name;
    while (!at_end() && !ends_name(here())) {
      if (here() == '\\' && at_ + 1 < text_.size()) ++at_;  // kubernetes\.io
      name += here();
      ++at_;
    }
    if (name.empty()) return wrong("a field's name");
    path.steps.push_back({Field{std::move(name)}});
    return {};
  }

  static bool ends_name(char c) {
    return is_space(c) || std::string_view(".[]{}()=!<>,\"'|&").find(c) != std::string_view::npos;
  }

  Result<void> bracket(Path& path) {
    take("[");
    skip_spaces();
    if (take("?")) {
      skip_spaces();
      if (!take("(")) return wrong("( of a filter: [?(@.name==\"x\")]");
      path.steps.push_back({std::make_shared<const Filter>(TRY(filter()))});
      skip_spaces();
      if (!take(")")) return wrong(") of the filter");
    } else if (take("*")) {
      path.steps.push_back({Wildcard{}});
    } else {
      path.steps.push_back(TRY(subscript()));
    }
    skip_spaces();
    if (!take("]")) return wrong("]");
    return {};
  }

  Result<Step> subscript() {
    Union all;
    do {
      skip_spaces();
      if (here() == '\'' || here() == '"') {
        all.parts.emplace_back(Field{.name = TRY(quoted()), .quoted = true});
      } else {
        all.parts.emplace_back(TRY(slice()));
      }
      skip_spaces();
    } while (take(","));
    if (all.parts.size() > 1) return Step{std::move(all)};
    return std::visit([](auto& one) { return Step{std::move(one)}; }, all.parts.front());
  }

  Result<Slice> slice() {
    Slice found;
    found.from = TRY(number());
    if (!take(":")) {
      if (!found.from) return wrong("a number, * or 'name'");
      found.single = true;
      return found;
    }
    found.to = TRY(number());
    if (take(":")) found.by = TRY(number()).value_or(1);
    if (found.by <= 0) return wrong("a step above 0");
    return found;
  }

  Result<std::optional<std::int64_t>> number() {
    skip_spaces();
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) return wrong("a smaller number");
    if (error != std::errc()) return std::optional<std::int64_t>();
    at_ += static_cast<std::size_t>(end - begin);
    skip_spaces();
    return std::optional(value);
  }

  Result<Filter> filter() {
    Filter found;
    found.left = TRY(operand());
    skip_spaces();
    struct Sign {
      std::string_view text;
      Comparison means;
    };
    for (const Sign& sign : {Sign{"==", Comparison::Equal}, Sign{"!=", Comparison::NotEqual},
                             Sign{"<=", Comparison::LessOrEqual},
                             Sign{">=", Comparison::GreaterOrEqual}, Sign{"<", Comparison::Less},
                             Sign{">", Comparison::Greater}, Sign{"=", Comparison::Equal}}) {
      if (!take(sign.text)) continue;
      found.comparison = sign.means;
      found.right = TRY(operand());
      break;
    }
    return found;
  }

  Result<Operand> operand() {
    skip_spaces();
    if (here() == '"' || here() == '\'') return Operand(json::Value(TRY(quoted())));
    if (take_literal("true")) return Operand(json::Value(true));
    if (take_literal("false")) return Operand(json::Value(false));
    if (take_literal("null")) return Operand(json::Value());
    if (here() == '-' || (here() >= '0' && here() <= '9')) return literal_number();
    return Operand(TRY(path(")=!<>")));
  }

  bool take_literal(std::string_view word) {
    const auto after = at_ + word.size();
    if (!sees(word) || (after < text_.size() && !ends_name(text_[after]))) return false;
    at_ = after;
    return true;
  }

  Result<Operand> literal_number() {
    const char* begin = text_.data() + at_;
    const char* last = text_.data() + text_.size();
    double real = 0;
    const auto [end, error] = std::from_chars(begin, last, real);
    if (error != std::errc()) return wrong("a number");
    std::int64_t whole = 0;
    const auto as_whole = std::from_chars(begin, end, whole);
    at_ += static_cast<std::size_t>(end - begin);
    if (as_whole.ec == std::errc() && as_whole.ptr == end) return Operand(json::Value(whole));
    return Operand(json::Value(real));
  }

  Result<std::string> quoted() {
    const char quote = here();
    ++at_;
    std::string found;
    while (!at_end() && here() != quote) {
      char c = here();
      ++at_;
      if (c == '\\' && !at_end()) {
        c = unescaped(here());
        ++at_;
      }
      found += c;
    }
    if (at_end()) return wrong(fmt::format("the closing {}", quote));
    ++at_;
    return found;
  }

  static char unescaped(char c) {
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      default:
        return c;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Path> parse_path(std::string_view text) {
  return Reader(text).whole_path();
}

Result<Template> parse_template(std::string_view text) {
  return Reader(text).whole_template();
}

}  // namespace muster::cli::query
