#pragma once

#include <string>
#include <string_view>

#include "api/resource.h"
#include "base/error.h"
#include "json/value.h"

namespace muster::cli {

// What stands in a field of a kind, its sentence and its members, as a page of text. The field is
// written as kubectl does: spec.template.spec.containers.env, without the places in lists; a key of
// a map (the role of a job, say) may be named or left out. Empty: the kind itself.
Result<std::string> explain_field(const api::Resource& resource, const json::Value& schema,
                                  std::string_view field);

}  // namespace muster::cli
