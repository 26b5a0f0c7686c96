#include "plan/plan.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"

namespace muster::plan {

JobRef job_ref(const api::Resource& resource, const json::Value& job) {
  return {.resource = resource,
          .ns = api::namespace_of(job),
          .name = api::name_of(job),
          .uid = api::uid_of(job),
          .generation = api::generation_of(job)};
}

std::string NameRule::name(int rank, std::int64_t tries) const {
  if (!salt.empty()) return salted_name({.rank = rank, .attempt = tries});
  std::string out = stem;
  if (index) out += fmt::format("-{}", rank);
  if (attempt) out += fmt::format("-{}", tries);
  return out;
}

std::string NameRule::salted_name(const Try& which, int next) const {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";  // as in generated names
  constexpr int kLength = 5;
  std::uint64_t hash = stable_hash(
      fmt::format("{}/{}/{}/{}/{}", salt, which.rank, which.attempt, which.epoch, next));
  // The low digits of this hash are its weak ones.
  hash ^= hash >> 32U;
  std::string out = index ? fmt::format("{}-{}-", stem, which.rank) : stem + "-";
  for (int i = 0; i < kLength; ++i, hash /= kLetters.size()) {
    out += kLetters[hash % kLetters.size()];
  }
  return out;
}

bool ExitCodes::contains(int code) const {
  return code >= from || std::ranges::find(listed, code) != listed.end();
}

bool Role::restarts_in_place() const {
  const std::string& policy = pod["spec"]["restartPolicy"].as_string();
  return policy == "Always" || policy == "OnFailure";
}

RankSet all_of(std::string role, RankSet::Outcome outcome) {
  return {.role = std::move(role), .quorum = RankSet::Quorum::All, .outcome = outcome};
}

RankSet all_of_every_role(RankSet::Outcome outcome) {
  return all_of("", outcome);
}

RankSet any_of(std::string role, RankSet::Outcome outcome) {
  return {
      .role = std::move(role), .quorum = RankSet::Quorum::AtLeast, .number = 1, .outcome = outcome};
}

RankSet rank_of(std::string role, int index, RankSet::Outcome outcome) {
  return {.role = std::move(role),
          .quorum = RankSet::Quorum::Index,
          .number = index,
          .outcome = outcome};
}

RankSet any_and_none_left(std::string role, RankSet::Outcome outcome) {
  return {.role = std::move(role), .quorum = RankSet::Quorum::AnyAndNoneLeft, .outcome = outcome};
}

const Role* Plan::role(std::string_view name) const {
  const auto found = std::ranges::find(roles, name, &Role::name);
  return found == roles.end() ? nullptr : &*found;
}

const Object* Plan::object(const ObjectId& id) const {
  const auto found = std::ranges::find(objects, id, &Object::id);
  return found == objects.end() ? nullptr : &*found;
}

int Plan::total_replicas() const {
  return std::accumulate(roles.begin(), roles.end(), 0,
                         [](int sum, const Role& role) { return sum + role.replicas; });
}

}  // namespace muster::plan
