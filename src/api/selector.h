#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/value.h"

namespace muster::api {

// A label selector as it stands in a query: a=b,c!=d,e in (f,g),!h,i>3. All terms must hold.
class LabelSelector {
 public:
  static Result<LabelSelector> parse(std::string_view text);
  // The selector of a Service: each of these labels has this value. Without any it selects all,
  // which is not what a Service without selector means: ask empty() there.
  static LabelSelector of_labels(const json::Value& labels);

  [[nodiscard]] bool matches(const json::Value& object) const;
  [[nodiscard]] bool empty() const { return terms_.empty(); }

 private:
  friend class LabelSelectorParser;
  enum class Operator { In, NotIn, Exists, Absent, Greater, Less };
  struct Term {
    std::string key;
    Operator op = Operator::Exists;
    std::vector<std::string> values;

    [[nodiscard]] bool matches(const json::Value& labels) const;
  };
  std::vector<Term> terms_;
};

// A field selector: metadata.name=x,spec.nodeName!=y. Which fields a kind knows is the server's
// business.
class FieldSelector {
 public:
  struct Term {
    std::string path;
    std::string value;
    bool equal = true;
  };
  static Result<FieldSelector> parse(std::string_view text);
  [[nodiscard]] bool matches(const json::Value& object) const;
  [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }
  [[nodiscard]] bool empty() const { return terms_.empty(); }

 private:
  std::vector<Term> terms_;
};

}  // namespace muster::api
