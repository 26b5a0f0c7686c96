#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/check/fields.h"
#include "dialects/check/findings.h"
#include "dialects/check/schema.h"
#include "json/value.h"

// spec.runMode of the T9k kinds: whether a job runs, waits to be debugged, or is paused.
namespace muster::dialects::t9k {

namespace rules {
inline constexpr Rule kImmutable{"immutable", "FieldValueForbidden"};
}  // namespace rules

// What an entry of replicaSpecs or resumeSpecs asks of one role; without one, nothing.
struct RoleMode {
  bool skip_init_containers = false;
  std::vector<std::string> command;
  std::vector<std::string> args;  // of resumeSpecs only

  friend bool operator==(const RoleMode&, const RoleMode&) = default;
};

struct RunMode {
  bool debug = false;
  bool paused = false;                        // wins over debug
  std::map<std::string, RoleMode> debugging;  // by role
  std::map<std::string, RoleMode> resuming;

  [[nodiscard]] RoleMode debug_of(const std::string& role) const;
  [[nodiscard]] RoleMode resume_of(const std::string& role) const;
};

// Its rows below spec.runMode. `roles` are the kind's, as A|B.
void add_run_mode(std::string_view roles, FieldTable& table);

// Total, as all decoding. `enabled` may be spelled `enable`; where both are there, it counts.
RunMode read_run_mode(const json::Value& run_mode);

// What of it is fixed once the job is there: Plan::fixed.
std::map<std::string, std::string> fixed_run_mode(const json::Value& run_mode);

// No role is spoken of twice.
void check_run_mode(const json::Value& run_mode, const Path& path, Findings& findings);
// resumeSpecs stay as they are; who runs cannot be debugged.
void check_run_mode_update(const json::Value& old, const json::Value& fresh, const Path& path,
                           Findings& findings);
// The same for an API server.
std::vector<CelRule> run_mode_rules();

}  // namespace muster::dialects::t9k
