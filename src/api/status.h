#pragma once

#include "base/error.h"
#include "json/value.h"

// A Kubernetes Status document and our Error are the same thing on two sides of a wire.
namespace muster::api {

int http_code(ErrorCode code);
json::Value status_of(const Error& error);
// Reads a Status (or makes the best of any other body) that came with an HTTP status.
Error error_from_status(int http_status, const json::Value& body);

}  // namespace muster::api
