#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/resource.h"
#include "plan/dialect.h"

namespace muster::server {

// One kind that the server keeps, and the few ways in which kinds differ.
struct Kind {
  api::Resource resource;
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool has_status = false;    // a status subresource: the main resource never changes status
  bool keeps_status = false;  // a status given on creation is kept (nodes register with one)
  bool counts_generation = false;
  bool unconditional_update = true;  // an update may leave out the resourceVersion
  bool answers_object = false;       // a delete answers with the object, not with a Status
  std::vector<std::string> fields;   // selectable besides metadata.name and metadata.namespace
  const plan::Dialect* dialect = nullptr;

  [[nodiscard]] bool is(const api::Resource& other) const { return resource == other; }
};

// Every kind the server knows: the built-in ones, those of the registry (compiled-in CRDs), and
// what jobs of those may hold of other API groups, which is kept as it is.
// Never changes after it was made; the registry outlives it.
class Kinds {
 public:
  explicit Kinds(const plan::Registry& registry);

  [[nodiscard]] const std::vector<Kind>& all() const { return kinds_; }
  [[nodiscard]] const Kind* find(const api::Resource& resource) const;
  [[nodiscard]] const Kind* find(std::string_view group, std::string_view version,
                                 std::string_view plural) const;
  // By what an owner reference says; any version of the group counts.
  [[nodiscard]] const Kind* find_by_kind(std::string_view api_version, std::string_view kind) const;

 private:
  void add_stored(const api::Resource& resource);

  std::vector<Kind> kinds_;
};

}  // namespace muster::server
