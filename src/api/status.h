#pragma once

#include <string>

#include "base/error.h"
#include "json/value.h"

// A Kubernetes Status document and our Error are the same thing on two sides of a wire.
namespace muster::api {

int http_code(ErrorCode code);

// What a Status says it is about (its details); each part may be empty.
struct StatusSubject {
  std::string group;
  std::string
      kind;  // the plural, except for Invalid, where it is the Kind: as the real server does
  std::string name;
};

json::Value status_of(const Error& error, const StatusSubject& subject = {});

// Reads a Status (or makes the best of any other body) that came with an HTTP status. An ERROR
// event of a watch came with 200; there the Status's own code counts.
Error error_from_status(int http_status, const json::Value& body);

}  // namespace muster::api
