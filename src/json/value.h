#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "json/shared.h"

namespace muster::json {

class Value;

using Array = std::vector<Value>;

// Members keep the order they came in, so that what we do not understand is written back as it was.
// Lookup is linear: Kubernetes objects have few members at each level.
class Object {
 public:
  using Member = std::pair<std::string, Value>;
  using iterator = std::vector<Member>::iterator;
  using const_iterator = std::vector<Member>::const_iterator;

  Object() = default;
  Object(std::initializer_list<Member> members);

  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] Value* find(std::string_view key);
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }

  // The member's value, made null at the end if it was not there.
  Value& operator[](std::string_view key);
  void set(std::string_view key, Value value);
  bool erase(std::string_view key);
  // Appends without looking for a duplicate; for readers that already know there is none.
  void append(std::string key, Value value);

  [[nodiscard]] bool empty() const;
  [[nodiscard]] std::size_t size() const;
  void clear();
  void reserve(std::size_t count);
  void shrink();
  [[nodiscard]] iterator begin();
  [[nodiscard]] iterator end();
  [[nodiscard]] const_iterator begin() const;
  [[nodiscard]] const_iterator end() const;

  // Equal when the members are, in any order.
  friend bool operator==(const Object& a, const Object& b);

 private:
  std::vector<Member> members_;
};

// A JSON value: plain data with value semantics. Reading what is not there gives an empty answer
// (null, "", 0), because every field of a Kubernetes object is optional to somebody.
//
// Copies share arrays and objects until one of them is changed. So a reference to something in a
// value that may be changed is of use until the value is copied, also into itself: a change through
// it after that is one of the copy too. Ask for the reference anew.
class Value {
 public:
  Value() = default;
  Value(const Value&) = default;
  Value(Value&&) noexcept = default;
  // By value: what is assigned may be inside what it replaces, or around it.
  Value& operator=(Value other) noexcept {
    data_ = std::move(other.data_);
    return *this;
  }
  ~Value() = default;
  Value(std::nullptr_t) {}                                 // NOLINT(google-explicit-constructor)
  Value(bool value) : data_(value) {}                      // NOLINT(google-explicit-constructor)
  Value(int value) : data_(std::int64_t{value}) {}         // NOLINT(google-explicit-constructor)
  Value(std::int64_t value) : data_(value) {}              // NOLINT(google-explicit-constructor)
  Value(double value) : data_(value) {}                    // NOLINT(google-explicit-constructor)
  Value(const char* value) : data_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Value(std::string value) : data_(std::move(value)) {}    // NOLINT(google-explicit-constructor)
  Value(std::string_view value)
      : data_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Value(Array value)
      : data_(Shared<Array>(std::move(value))) {}  // NOLINT(google-explicit-constructor)
  Value(Object value)
      : data_(Shared<Object>(std::move(value))) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  [[nodiscard]] bool is_bool() const { return std::holds_alternative<bool>(data_); }
  [[nodiscard]] bool is_int() const { return std::holds_alternative<std::int64_t>(data_); }
  [[nodiscard]] bool is_double() const { return std::holds_alternative<double>(data_); }
  [[nodiscard]] bool is_number() const { return is_int() || is_double(); }
  [[nodiscard]] bool is_string() const { return std::holds_alternative<std::string>(data_); }
  [[nodiscard]] bool is_array() const { return std::holds_alternative<Shared<Array>>(data_); }
  [[nodiscard]] bool is_object() const { return std::holds_alternative<Shared<Object>>(data_); }

  // null, boolean, integer, number, string, array or object: for messages.
  [[nodiscard]] std::string_view type_name() const;

  [[nodiscard]] bool as_bool(bool otherwise = false) const;
  [[nodiscard]] std::int64_t as_int(std::int64_t otherwise = 0) const;
  [[nodiscard]] double as_double(double otherwise = 0) const;
  // Empty for anything but a string. The reference lives as long as this value.
  [[nodiscard]] const std::string& as_string() const;
  [[nodiscard]] const Array& as_array() const;
  [[nodiscard]] const Object& as_object() const;

  // Member or element; the null value when there is none. Chains:
  // v["spec"]["containers"][0]["name"].
  const Value& operator[](std::string_view key) const;
  const Value& operator[](const char* key) const { return (*this)[std::string_view(key)]; }
  const Value& operator[](std::size_t index) const;
  const Value& operator[](int index) const { return (*this)[static_cast<std::size_t>(index)]; }
  // Walks "spec.template.spec"; members only.
  [[nodiscard]] const Value& at_path(std::string_view dotted) const;

  // Writable access turns null into what is asked for. Only a bug asks an object of a string
  // (CHECK).
  Object& object();
  Array& array();
  Value& operator[](std::string_view key) { return object()[key]; }
  Value& operator[](const char* key) { return object()[std::string_view(key)]; }
  Value& make_path(std::string_view dotted);
  // What was built member by member has room for more in each of its parts, a third of all: gives
  // it back where no copy has the part too.
  void shrink();

  friend bool operator==(const Value& a, const Value& b);

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Shared<Array>,
               Shared<Object>>
      data_;
};

}  // namespace muster::json
