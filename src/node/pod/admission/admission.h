#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "node/pod/admission/rules.h"
#include "node/pod/facts.h"

namespace muster::node {

// Why this node does not run the pod: the first field in the manifest's order that it cannot obey.
// Nothing: every field is obeyed, or has no meaning here.
std::optional<PodFailure> refusal_of(const json::Value& pod);

namespace admission {

// The row of a field, like "containers[].env[].name"; null: there is none. `below` asks for a row
// that covers everything below the field, too.
const FieldRule* rule_of(std::string_view path, bool below = false);

// A pattern without its braces.
std::vector<std::string> expanded(std::string_view pattern);

// docs/pods.md.
std::string document();

}  // namespace admission

}  // namespace muster::node
