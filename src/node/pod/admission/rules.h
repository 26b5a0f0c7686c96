#pragma once

#include <span>
#include <string_view>

#include "json/value.h"

// What becomes of every field of a pod's spec on this node. The whole answer: what the node does
// not obey it refuses, unless it has no meaning where pods are processes of one machine.
// docs/pods.md is made of it.
namespace muster::node::admission {

enum class Fate { Obeyed, Refused, WithoutMeaning };

// Where a value stands.
struct Site {
  const json::Value& pod;
  const json::Value& container;  // null outside of containers
};

inline constexpr std::string_view kUnsupportedField = "UnsupportedField";

struct FieldRule {
  // Below spec: `[]` is every element of a list, `{a,b}` each of these, `.**` at the end the field
  // itself and all below it. containers[] are init containers too, where those have no row.
  std::string_view path;
  Fate fate = Fate::Obeyed;
  std::string_view note;  // of a refused field: what would be right
  // The values that are refused. Without: of a refused field all that say something, of others
  // none.
  bool (*refuses)(const json::Value& value, const Site& site) = nullptr;
  std::string_view remedy = {};  // of the values that `refuses` names; without: the note
  std::string_view reason =
      kUnsupportedField;  // in the pod's status; kubelets' own where they have one
};

struct RuleGroup {
  std::string_view title;
  std::span<const FieldRule> rules;
};

std::span<const FieldRule> life_rules();
std::span<const FieldRule> network_rules();
std::span<const FieldRule> machine_rules();
std::span<const FieldRule> pod_security_rules();
std::span<const FieldRule> account_rules();
std::span<const FieldRule> scheduling_rules();
std::span<const FieldRule> container_rules();
std::span<const FieldRule> probe_rules();
std::span<const FieldRule> container_security_rules();
std::span<const FieldRule> volume_rules();

// All of them, in the order in which they are read.
std::span<const RuleGroup> all_rules();

}  // namespace muster::node::admission
