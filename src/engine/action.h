#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "api/resource.h"
#include "plan/plan.h"

namespace muster::engine {

// Why a deletion is right; every deletion has a reason.
enum class Reason {
  CleanUp,
  ScaleDown,
  ReplaceFailed,
  Superseded,
  Suspended,
  Outdated,  // an object that would be made in another way now
  Expired,
};

std::string_view to_string(Reason reason);

// All that a child's body needs beside the plan (make_pod, make_object): a large job has many of
// them at once, and the bodies would be ten times as big.
struct CreatePod {
  std::string name;
  const plan::Role* role = nullptr;  // of the plan that was decided on, which outlives the wave
  int index = 0;
  std::int64_t attempt = 0;
  std::int64_t epoch = 0;
  bool resumed = false;  // it is made after a resume
  std::shared_ptr<const plan::Addresses> addresses;
};
struct CreateObject {
  std::string name;
  const plan::Object* object = nullptr;  // of the plan
  int index = 0;                         // of the rank that it accompanies
  std::shared_ptr<const plan::Addresses> addresses;
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
