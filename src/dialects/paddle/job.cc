#include "dialects/paddle/job.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::dialects::paddle {
namespace {

constexpr std::uint64_t kPortRange = 20'000;

// Callers of decode() may not have validated: a number that no int holds must not wrap.
int read_count(const json::Value& value) {
  return static_cast<int>(
      std::clamp<std::int64_t>(value.as_int(), 0, std::numeric_limits<std::int32_t>::max() / 16));
}

Intranet read_intranet(const json::Value& value) {
  if (value.as_string() == "Service") return Intranet::Service;
  return value.as_string() == "Host" ? Intranet::Host : Intranet::PodIp;
}

}  // namespace

int Job::replicas(std::string_view role) const {
  const auto found = std::ranges::find(roles, role, &RoleSpec::name);
  return found == roles.end() ? 0 : found->replicas;
}

int Job::total() const {
  int sum = 0;
  for (const RoleSpec& role : roles) sum += role.replicas;
  return sum;
}

std::string Job::pod_name(std::string_view role, int index) const {
  return fmt::format("{}-{}-{}", ref.name, role, index);
}

int Job::port() const {
  if (intranet == Intranet::Service) return kServicePort;
  return kServicePort + static_cast<int>(stable_hash(ref.uid) % kPortRange);
}

std::string Job::run_key() const {
  if (elastic) return "elastic";
  std::vector<std::string> parts;
  for (const RoleSpec& role : roles) {
    parts.push_back(fmt::format("{}={}", role.name, role.replicas));
  }
  if (intranet == Intranet::Service) parts.emplace_back("intranet=Service");
  if (intranet == Intranet::Host) parts.emplace_back("intranet=Host");
  if (gloo > 0) parts.push_back(fmt::format("gloo={}", gloo));
  return join(parts, ",");
}

Job decode(const api::Resource& resource, const json::Value& job) {
  const json::Value& spec = job["spec"];
  Job out{.object = &job, .ref = plan::job_ref(resource, job)};
  for (const std::string_view role : kRoles) {
    const int replicas = read_count(spec[role]["replicas"]);
    if (replicas == 0) continue;
    out.roles.push_back({.name = std::string(role),
                         .path = Path("spec") / role,
                         .spec = &spec[role],
                         .replicas = replicas});
  }
  out.intranet = read_intranet(spec["intranet"]);
  out.elastic = !spec["elastic"].is_null();
  if (out.replicas(kServer) > 0) out.gloo = read_count(spec["withGloo"]);
  return out;
}

}  // namespace muster::dialects::paddle
