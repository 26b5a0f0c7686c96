#pragma once

#include <vector>

#include "dialects/mindspore_spec.h"
#include "json/value.h"
#include "plan/plan.h"

namespace muster::dialects::mindspore {

// What the containers of a job are told; the same for all roles but for the role itself.
struct Rendezvous {
  std::string service;  // of the Scheduler
  std::int64_t port = 0;
  int servers = 0;
  int workers = 0;
};

// The ports of the `mindspore` container.
const json::Array& container_ports(const json::Value& pod);

// Adds msjob-port to the `mindspore` container unless a port of that name is there.
void add_job_port(json::Value& pod);

// Appends MS_* after the user's own, in the documented order; what is known only later goes to
// `late`.
void inject_environment(json::Value& pod, RoleName role, const Rendezvous& rendezvous,
                        std::vector<plan::LateValue>& late);

}  // namespace muster::dialects::mindspore
