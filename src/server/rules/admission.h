#pragma once

#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "json/value.h"
#include "server/kinds.h"

// Decode → default → validate, for objects that come from outside. Pure but for the uid and name
// suffix that creation draws.
namespace muster::server {

// The body is an object of this kind as far as one can see: BadRequest otherwise. Fills in
// apiVersion and kind where they are absent.
Result<void> check_shape(const Kind& kind, json::Value& object);

// Everything that a creation decides by itself: system metadata, defaults, first status.
Result<void> prepare_creation(const Kind& kind, json::Value& object, Rng& rng, Time now);
Result<void> validate_creation(const Kind& kind, const json::Value& object);

// Turns what the client sent into what would be stored in place of `old`; the resourceVersion
// stays.
Result<json::Value> prepare_update(const Kind& kind, const json::Value& old, json::Value object);
Result<json::Value> prepare_status_update(const Kind& kind, const json::Value& old,
                                          const json::Value& object);

// Conflict when the write was decided from another object or another version.
Result<void> check_preconditions(const Kind& kind, const json::Value& old, std::string_view uid,
                                 std::string_view resource_version);

// The sentences of the real server.
Error not_found(const Kind& kind, std::string_view name);
Error already_exists(const Kind& kind, std::string_view name);
Error conflict(const Kind& kind, std::string_view name, std::string_view why);
Error forbidden(const Kind& kind, std::string_view name, std::string_view why);

}  // namespace muster::server
