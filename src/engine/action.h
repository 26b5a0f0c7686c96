#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/resource.h"
#include "json/value.h"

namespace muster::engine {

// Why a deletion is right; every deletion has a reason.
enum class Reason { CleanUp, ScaleDown, ReplaceFailed, Superseded, Expired };

std::string_view to_string(Reason reason);

// All that a pod's body needs beside the plan (make_pod): a large job has many of them at once, and
// the bodies would be ten times as big.
struct CreatePod {
  std::string name;
  std::string role;
  int index = 0;
  std::int64_t attempt = 0;
  std::int64_t epoch = 0;
  std::vector<std::string> late;  // the values of Role::late
};
struct CreateObject {
  api::Resource resource;
  json::Value body;
};
struct DeletePod {
  std::string name;
  std::string uid;
  std::string resource_version;  // set: only if it is still as it was seen
  Reason reason = Reason::CleanUp;
};
struct DeleteObject {
  api::Resource resource;
  std::string name;
  std::string uid;
  Reason reason = Reason::CleanUp;
};
struct DeleteJob {
  Reason reason = Reason::Expired;
};

using Action = std::variant<CreateObject, CreatePod, DeletePod, DeleteObject, DeleteJob>;

}  // namespace muster::engine
