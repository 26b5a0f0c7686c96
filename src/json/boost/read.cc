#include "json/read.h"

#include <charconv>
#include <cmath>
#include <optional>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>

#include "json/rules.h"

// Boost.JSON as a stream of events, from which our values are built directly: its own value type is
// never made.
namespace muster::json {
namespace {

using boost::json::error_code;

// What Boost's parser calls. Its names are Boost's; `false` ends the reading.
class Builder {
 public:
  // NOLINTBEGIN(readability-identifier-naming)
  static constexpr auto max_object_size = std::string::npos;
  static constexpr auto max_array_size = std::string::npos;
  static constexpr auto max_key_size = std::string::npos;
  static constexpr auto max_string_size = std::string::npos;
  // NOLINTEND(readability-identifier-naming)

  explicit Builder(const ReadLimits& limits) : limits_(limits) {}

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] Value take() { return std::move(root_); }

  static bool on_document_begin(error_code& /*code*/) { return true; }
  static bool on_document_end(error_code& /*code*/) { return true; }
  static bool on_comment_part(std::string_view /*text*/, error_code& /*code*/) { return true; }
  static bool on_comment(std::string_view /*text*/, error_code& /*code*/) { return true; }

  bool on_object_begin(error_code& code) { return open(Object(), code); }
  bool on_array_begin(error_code& code) { return open(Array(), code); }

  bool on_object_end(std::size_t /*size*/, error_code& code) {
    if (const auto unique = check_keys(open_.back().value.as_object()); !unique) {
      return stop(unique.error(), code);
    }
    close();
    return true;
  }
  bool on_array_end(std::size_t /*size*/, error_code& /*code*/) {
    close();
    return true;
  }

  bool on_key_part(std::string_view text, std::size_t /*size*/, error_code& /*code*/) {
    text_ += text;
    return true;
  }
  bool on_key(std::string_view text, std::size_t /*size*/, error_code& /*code*/) {
    open_.back().key = take_text(text);
    return true;
  }
  bool on_string_part(std::string_view text, std::size_t /*size*/, error_code& /*code*/) {
    text_ += text;
    return true;
  }
  bool on_string(std::string_view text, std::size_t /*size*/, error_code& code) {
    return add(take_text(text), code);
  }

  bool on_number_part(std::string_view text, error_code& /*code*/) {
    text_ += text;
    return true;
  }
  bool on_int64(std::int64_t number, std::string_view /*text*/, error_code& code) {
    text_.clear();
    return add(number, code);
  }
  bool on_uint64(std::uint64_t number, std::string_view /*text*/, error_code& code) {
    text_.clear();
    return add(static_cast<double>(number), code);
  }
  // Boost's own number may be off by a bit, so the text is read again.
  bool on_double(double /*inexact*/, std::string_view text, error_code& code) {
    const auto digits = take_text(text);
    double number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool whole = digits.find_first_of(".eE") == std::string::npos;
    if (read.ec != std::errc() || whole || !std::isfinite(number)) {
      return stop(not_json("a number out of range").error(), code);
    }
    return add(number, code);
  }

  bool on_bool(bool value, error_code& code) { return add(value, code); }
  bool on_null(error_code& code) { return add(nullptr, code); }

 private:
  // An array or object that has not ended yet, and the key that its next value belongs to.
  struct Open {
    Value value;
    std::string key;
  };

  bool stop(Error error, error_code& code) {
    error_ = std::move(error);
    code = boost::json::error::syntax;
    return false;
  }

  bool count(error_code& code) {
    return ++nodes_ <= limits_.nodes || stop(too_many_values(limits_).error(), code);
  }

  bool open(Value value, error_code& code) {
    if (!count(code)) return false;
    if (std::cmp_greater_equal(open_.size(), limits_.depth)) {
      return stop(too_deep(limits_).error(), code);
    }
    open_.push_back({.value = std::move(value)});
    return true;
  }

  void close() {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    put(std::move(value));
  }

  bool add(Value value, error_code& code) {
    if (!count(code)) return false;
    put(std::move(value));
    return true;
  }

  void put(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (auto& parent = open_.back(); parent.value.is_object()) {
      parent.value.object().append(std::move(parent.key), std::move(value));
    } else {
      parent.value.array().push_back(std::move(value));
    }
  }

  std::string take_text(std::string_view rest) {
    std::string text = std::exchange(text_, {});
    text += rest;
    return text;
  }

  const ReadLimits& limits_;
  std::size_t nodes_ = 0;
  std::vector<Open> open_;
  std::string text_;  // of a key, string or number that comes in parts
  Value root_;
  std::optional<Error> error_;
};

}  // namespace

Result<Value> read(std::string_view text, const ReadLimits& limits) {
  TRY(check_size(text, limits));
  boost::json::parse_options options;
  // One level more than allowed, so that our own count reports the limit in our own words.
  options.max_depth = static_cast<std::size_t>(limits.depth) + 1;
  boost::json::basic_parser<Builder> parser(options, limits);
  error_code code;
  const std::size_t taken = parser.write_some(false, text.data(), text.size(), code);
  if (parser.handler().error()) return fail(*parser.handler().error());
  if (code) return not_json(code.message());
  if (taken < text.size()) return not_json("more than one document");
  return parser.handler().take();
}

}  // namespace muster::json
