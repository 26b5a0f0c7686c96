#include "json/value.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace muster::json {
namespace {

const Value kNull;
const std::string kEmptyString;
const Array kEmptyArray;
const Object kEmptyObject;

}  // namespace

Object::Object(std::initializer_list<Member> members) : members_(members) {}

const Value* Object::find(std::string_view key) const {
  const auto found = std::ranges::find(members_, key, &Member::first);
  return found == members_.end() ? nullptr : &found->second;
}

Value* Object::find(std::string_view key) {
  const auto found = std::ranges::find(members_, key, &Member::first);
  return found == members_.end() ? nullptr : &found->second;
}

Value& Object::operator[](std::string_view key) {
  if (Value* value = find(key)) return *value;
  return members_.emplace_back(std::string(key), Value()).second;
}

void Object::set(std::string_view key, Value value) {
  (*this)[key] = std::move(value);
}

bool Object::erase(std::string_view key) {
  return std::erase_if(members_, [&](const Member& member) { return member.first == key; }) > 0;
}

void Object::append(std::string key, Value value) {
  members_.emplace_back(std::move(key), std::move(value));
}

bool Object::empty() const {
  return members_.empty();
}
std::size_t Object::size() const {
  return members_.size();
}
void Object::clear() {
  members_.clear();
}
void Object::reserve(std::size_t count) {
  members_.reserve(count);
}
void Object::shrink() {
  members_.shrink_to_fit();
  for (auto& [key, value] : members_) {
    key.shrink_to_fit();
    value.shrink();
  }
}
Object::iterator Object::begin() {
  return members_.begin();
}
Object::iterator Object::end() {
  return members_.end();
}
Object::const_iterator Object::begin() const {
  return members_.begin();
}
Object::const_iterator Object::end() const {
  return members_.end();
}

bool operator==(const Object& a, const Object& b) {
  if (a.size() != b.size()) return false;
  // Most often the order is the same too. Otherwise both are sorted: looking up each member would
  // take a hostile object of 100,000 members minutes.
  if (std::ranges::equal(a, b, {}, &Object::Member::first, &Object::Member::first)) {
    return std::ranges::equal(a, b, {}, &Object::Member::second, &Object::Member::second);
  }
  const auto sorted = [](const Object& object) {
    std::vector<const Object::Member*> members;
    for (const auto& member : object) members.push_back(&member);
    std::ranges::sort(members, {},
                      [](const auto* member) { return std::string_view(member->first); });
    return members;
  };
  return std::ranges::equal(sorted(a), sorted(b), [](const auto* one, const auto* other) {
    return one->first == other->first && one->second == other->second;
  });
}

std::string_view Value::type_name() const {
  constexpr std::string_view kNames[] = {"null",   "boolean", "integer", "number",
                                         "string", "array",   "object"};
  return kNames[data_.index()];
}

bool Value::as_bool(bool otherwise) const {
  const auto* value = std::get_if<bool>(&data_);
  return value == nullptr ? otherwise : *value;
}

std::int64_t Value::as_int(std::int64_t otherwise) const {
  if (const auto* value = std::get_if<std::int64_t>(&data_)) return *value;
  // 2.0 is an integer to every Kubernetes client.
  if (const auto* value = std::get_if<double>(&data_)) {
    if (std::trunc(*value) == *value && std::fabs(*value) < 0x1.0p62) {
      return static_cast<std::int64_t>(*value);
    }
  }
  return otherwise;
}

double Value::as_double(double otherwise) const {
  if (const auto* value = std::get_if<double>(&data_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&data_)) return static_cast<double>(*value);
  return otherwise;
}

const std::string& Value::as_string() const {
  const auto* value = std::get_if<std::string>(&data_);
  return value == nullptr ? kEmptyString : *value;
}

const Array& Value::as_array() const {
  const auto* shared = std::get_if<Shared<Array>>(&data_);
  const auto* value = shared == nullptr ? nullptr : shared->get();
  return value == nullptr ? kEmptyArray : *value;
}

const Object& Value::as_object() const {
  const auto* shared = std::get_if<Shared<Object>>(&data_);
  const auto* value = shared == nullptr ? nullptr : shared->get();
  return value == nullptr ? kEmptyObject : *value;
}

const Value& Value::operator[](std::string_view key) const {
  const Value* value = as_object().find(key);
  return value == nullptr ? kNull : *value;
}

const Value& Value::operator[](std::size_t index) const {
  const Array& array = as_array();
  return index < array.size() ? array[index] : kNull;
}

const Value& Value::at_path(std::string_view dotted) const {
  const Value* value = this;
  while (true) {
    const auto dot = dotted.find('.');
    value = &(*value)[dotted.substr(0, dot)];
    if (dot == std::string_view::npos) return *value;
    dotted.remove_prefix(dot + 1);
  }
}

Object& Value::object() {
  if (is_null()) data_ = Shared<Object>();
  CHECK(is_object());
  return std::get<Shared<Object>>(data_).own();
}

Array& Value::array() {
  if (is_null()) data_ = Shared<Array>();
  CHECK(is_array());
  return std::get<Shared<Array>>(data_).own();
}

Value& Value::make_path(std::string_view dotted) {
  Value* value = this;
  while (true) {
    const auto dot = dotted.find('.');
    value = &value->object()[dotted.substr(0, dot)];
    if (dot == std::string_view::npos) return *value;
    dotted.remove_prefix(dot + 1);
  }
}

void Value::shrink() {
  if (auto* text = std::get_if<std::string>(&data_)) text->shrink_to_fit();
  if (auto* array = std::get_if<Shared<Array>>(&data_);
      array != nullptr && array->only() != nullptr) {
    array->only()->shrink_to_fit();
    for (Value& element : *array->only()) element.shrink();
  }
  if (auto* object = std::get_if<Shared<Object>>(&data_);
      object != nullptr && object->only() != nullptr)
    object->only()->shrink();
}

bool operator==(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number() && a.data_.index() != b.data_.index()) {
    return a.as_double() == b.as_double();
  }
  return a.data_ == b.data_;
}

}  // namespace muster::json
