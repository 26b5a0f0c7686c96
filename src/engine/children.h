#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/action.h"
#include "engine/census.h"
#include "engine/observed.h"
#include "json/value.h"
#include "plan/ledger.h"
#include "plan/plan.h"

namespace muster::engine {

// What exists, found by name: built once for a decision, so that nothing is searched for in a loop
// over ranks. Lives no longer than what was observed.
class Children {
 public:
  explicit Children(const std::vector<ObjectView>& objects, std::set<std::string> secrets = {});

  // Null when there is none.
  [[nodiscard]] const ObjectView* object(const api::Resource& resource,
                                         std::string_view name) const;
  // Whether a secret is there, as far as anybody knows.
  [[nodiscard]] bool has_secret(const plan::ObjectId& id) const;
  // Another run finds out anew.
  void forget_secrets() { secrets_.clear(); }

 private:
  // Few resources, many names.
  struct OfResource {
    api::Resource resource;
    std::unordered_map<std::string_view, const ObjectView*> by_name;
  };
  std::vector<OfResource> objects_;
  std::set<std::string> secrets_;
};

// The addresses that the plan's values ask for, as far as they are known.
std::shared_ptr<const plan::Addresses> known_addresses(const plan::Plan& plan,
                                                       const Children& children,
                                                       const Census& census);

// Whether everything in the values of a child is known.
bool resolves(const std::vector<plan::Placed>& values, const plan::Addresses& addresses);

// How many there are to be of an object: one, or one for each rank.
int copies(const plan::Plan& plan, const plan::Object& object);
// The name of an object, or of the one that accompanies a rank.
std::string object_name(const plan::Plan& plan, const plan::Object& object, int index,
                        const plan::Ledger& ledger);

// What an object says, as a hash: it changes with the body and with every value. Nothing while a
// value is unknown.
std::optional<std::string> content_of(const plan::Object& object, int index,
                                      const plan::Addresses& addresses);

// Children as they are sent to the API server.
json::Value make_pod(const plan::Plan& plan, const CreatePod& pod);
json::Value make_object(const plan::Plan& plan, const CreateObject& action);

}  // namespace muster::engine
