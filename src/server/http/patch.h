#pragma once

#include "base/error.h"
#include "json/value.h"

namespace muster::server {

// RFC 7386: members of the patch replace, null removes, objects merge.
void merge_patch(json::Value& target, const json::Value& patch);

// RFC 6902. Invalid when an operation cannot be applied (a test that fails included); BadRequest
// when the patch is none. The result is bounded like any object.
Result<void> json_patch(json::Value& target, const json::Value& patch);

}  // namespace muster::server
