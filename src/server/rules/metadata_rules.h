#pragma once

#include "json/value.h"
#include "server/kinds.h"
#include "server/rules/causes.h"

namespace muster::server {

// Name, namespace, labels, annotations, owner references, finalizers.
void check_metadata(const Kind& kind, const json::Value& object, Causes& causes);
// What an update may not do to the metadata of `old`.
void check_metadata_update(const json::Value& old, const json::Value& object, Causes& causes);

// Bytes that the object takes as JSON, near enough to hold it to a limit without writing it.
std::size_t json_size(const json::Value& value);
// Whether objects and lists are nested deeper than that.
bool is_deeper_than(const json::Value& value, int levels);

}  // namespace muster::server
