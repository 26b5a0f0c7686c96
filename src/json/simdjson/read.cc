#include "json/read.h"

#include <simdjson.h>

#include "json/rules.h"

namespace muster::json {
namespace {

// Copies simdjson's document into our value, counting as it goes.
class Copier {
 public:
  explicit Copier(const ReadLimits& limits) : limits_(limits) {}

  Result<Value> copy(simdjson::dom::element element, int depth) {
    if (++nodes_ > limits_.nodes) return too_many_values(limits_);
    switch (element.type()) {
      case simdjson::dom::element_type::ARRAY:
        return copy_array(element, depth + 1);
      case simdjson::dom::element_type::OBJECT:
        return copy_object(element, depth + 1);
      case simdjson::dom::element_type::INT64:
        return Value(element.get_int64().value_unsafe());
      case simdjson::dom::element_type::UINT64:
        return Value(static_cast<double>(element.get_uint64().value_unsafe()));
      case simdjson::dom::element_type::DOUBLE:
        return Value(element.get_double().value_unsafe());
      case simdjson::dom::element_type::STRING:
        return Value(std::string(element.get_string().value_unsafe()));
      case simdjson::dom::element_type::BOOL:
        return Value(element.get_bool().value_unsafe());
      case simdjson::dom::element_type::NULL_VALUE:
        return Value();
    }
    return fail(ErrorCode::Internal, "unknown JSON type");
  }

 private:
  Result<Value> copy_array(simdjson::dom::element element, int depth) {
    if (depth > limits_.depth) return too_deep(limits_);
    const simdjson::dom::array source = element.get_array().value_unsafe();
    Array array;
    array.reserve(source.size());
    for (const auto item : source) array.push_back(TRY(copy(item, depth)));
    return Value(std::move(array));
  }

  Result<Value> copy_object(simdjson::dom::element element, int depth) {
    if (depth > limits_.depth) return too_deep(limits_);
    const simdjson::dom::object source = element.get_object().value_unsafe();
    Object object;
    object.reserve(source.size());
    for (const auto member : source) {
      object.append(std::string(member.key), TRY(copy(member.value, depth)));
    }
    TRY(check_keys(object));
    return Value(std::move(object));
  }

  const ReadLimits& limits_;
  std::size_t nodes_ = 0;
};

}  // namespace

Result<Value> read(std::string_view text, const ReadLimits& limits) {
  TRY(check_size(text, limits));
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  // One level more than allowed, so that our own count reports the limit in our own words.
  if (const auto error =
          parser.allocate(text.size() + 1, static_cast<std::size_t>(limits.depth) + 1)) {
    return fail(ErrorCode::Internal, simdjson::error_message(error));
  }
  if (const auto error = parser.parse(text.data(), text.size()).get(root)) {
    if (error == simdjson::DEPTH_ERROR) return too_deep(limits);
    return not_json(simdjson::error_message(error));
  }
  return Copier(limits).copy(root, 0);
}

}  // namespace muster::json
