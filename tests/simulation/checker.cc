#include "checker.h"

#include <algorithm>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "json/write.h"
#include "plan/ledger.h"
#include "plan/plan.h"

namespace muster::simulation {
namespace {

constexpr std::string_view kVerbs[] = {"list",   "watch",        "get",   "create",
                                       "update", "updateStatus", "remove"};

plan::Ledger ledger_of(const json::Value& job) {
  return plan::Ledger::from_json(job["status"]["muster"]);
}

// The condition that ended the job, or the phase of a kind without conditions; null while it has
// none.
const json::Value& terminal(const json::Value& job) {
  static const json::Value none;
  const json::Value& status = job["status"];
  if (status["conditions"].is_null()) {
    return plan::is_terminal(ledger_of(job).phase) ? status["phase"] : none;
  }
  for (const char* success : {"Succeeded", "Complete"}) {
    const json::Value& succeeded = api::condition_of(job, success);
    if (!succeeded.is_null()) return succeeded;
  }
  return api::condition_of(job, "Failed");
}

// Where the limits of a job are.
const json::Value& policy_of(const json::Value& job) {
  const json::Value& spec = job["spec"];
  for (const char* place : {"runPolicy", "master"}) {
    if (spec[place].is_object()) return spec[place];
  }
  return spec;
}

std::int64_t attempts_in(const plan::Ledger& ledger, std::string_view only = "") {
  std::int64_t total = 0;
  for (const auto& [name, role] : ledger.roles) {
    if (!only.empty() && name != only) continue;
    total += role.attempts.sum();
  }
  return total;
}

std::int64_t disruptions_in(const plan::Ledger& ledger) {
  std::int64_t total = 0;
  for (const auto& [name, role] : ledger.roles) total += role.disruptions;
  return total;
}

std::int64_t number_in(const json::Value& pod, std::string_view label) {
  return parse_int(api::label_of(pod, label)).value_or(0);
}

std::int64_t replicas_of(const json::Value& job, const std::string& role) {
  constexpr std::string_view kSet = "workerset-";
  const json::Value& spec = job["spec"];
  if (role.starts_with(kSet))
    return spec["workerSets"][role.substr(kSet.size())]["replicas"].as_int(1);
  const json::Value& roles = spec["msReplicaSpecs"].is_null() ? spec : spec["msReplicaSpecs"];
  return roles[role]["replicas"].as_int(1);
}

std::string try_of(const Process& process) {
  return fmt::format("{} {} epoch {} attempt {}", process.job_uid, process.rank, process.epoch,
                     process.attempt);
}

std::string incarnation(const Process& process) {
  return fmt::format("{} restart {}", try_of(process), process.restarts);
}

}  // namespace

std::string Request::text() const {
  return fmt::format("{} {} {} uid={} rv={} {}", kVerbs[static_cast<std::size_t>(verb)],
                     resource.plural, key.text(), uid, resource_version, json::write(body));
}

void Checker::violation(std::string_view invariant, const std::string& what) {
  history_.note("VIOLATION {}: {}", invariant, what);
  violations_.push_back(fmt::format("{}: {}", invariant, what));
}

api::ObjectPtr Checker::stored(const api::Resource& resource, const api::ObjectKey& key) const {
  const auto found = core_.get(*core_.kinds().find(resource), key);
  return found ? *found : nullptr;
}

api::ObjectPtr Checker::job_of(const json::Value& child) const {
  for (const api::OwnerReference& owner : api::owners_of(child)) {
    if (!owner.controller) continue;
    for (const api::Resource& kind : jobs_) {
      if (kind.kind != owner.kind || kind.api_version() != owner.api_version) continue;
      const auto job = stored(kind, {.ns = api::namespace_of(child), .name = owner.name});
      if (job != nullptr && api::uid_of(*job) == owner.uid) return job;
    }
  }
  return nullptr;
}

void Checker::before(const Request& request) {
  before_ = nullptr;
  if (request.resource == api::events()) return;
  switch (request.verb) {
    case Request::Verb::Create:
      check_create(request);
      break;
    case Request::Verb::UpdateStatus:
      check_status(request);
      break;
    case Request::Verb::Remove:
      check_remove(request);
      break;
    case Request::Verb::Update:
      violation("S7", "the controller edits " + request.key.text());
      break;
    default:
      break;
  }
}

void Checker::after(const Request& request, const json::Value& answer) {
  if (request.resource == api::events()) return;
  if (request.verb == Request::Verb::Create) created_.push_back(request.key.name);
  if (request.verb == Request::Verb::Remove) deleted_.insert(api::uid_of(answer));
  if (request.verb == Request::Verb::UpdateStatus && before_ != nullptr) {
    check_transition(*before_, answer);
  }
}

void Checker::check_create(const Request& request) {
  const std::string owner = api::controller_uid_of(request.body);
  if (owner.empty()) violation("S7", "created without an owner: " + request.key.text());
  const auto job = job_of(request.body);
  if (job != nullptr && !terminal(*job).is_null()) {
    violation("S4", "created after the end: " + request.key.text());
  }
}

void Checker::check_status(const Request& request) {
  if (!jobs_.contains(request.resource)) violation("S7", "status written of " + request.text());
  if (request.uid.empty() || request.resource_version.empty()) {
    violation("S9", "a status write without uid and resourceVersion: " + request.key.text());
  }
  before_ = stored(request.resource, request.key);
}

void Checker::check_remove(const Request& request) {
  if (request.uid.empty()) violation("S6", "a delete without uid: " + request.key.text());
  if (request.grace_seconds)
    violation("S6", "a delete that shortens the grace: " + request.key.text());
  const auto target = stored(request.resource, request.key);
  if (target == nullptr) return;
  if (!request.uid.empty() && request.uid != api::uid_of(*target)) return;  // will be refused
  if (jobs_.contains(request.resource)) {
    check_remove_job(request, *target);
    return;
  }
  if (api::controller_uid_of(*target).empty()) {
    violation("S7", "deleted something foreign: " + request.key.text());
  } else if (!is_justified(*target, request.resource == api::pods())) {
    violation("S6", "deleted without a reason: " + request.key.text());
  }
}

void Checker::check_remove_job(const Request& request, const json::Value& job) {
  const plan::Ledger ledger = ledger_of(job);
  const json::Value& ttl = policy_of(job)["ttlSecondsAfterFinished"];
  const bool due = ledger.completion_time && ttl.is_number() &&
                   std::max(loop_.now(), latest_) >=
                       *ledger.completion_time + std::chrono::seconds(ttl.as_int());
  if (!due) violation("S6", "the job was deleted before its time: " + request.key.text());
}

bool Checker::is_surplus(const std::string& role, int index, const json::Value& job) const {
  if (index >= replicas_of(job, role)) return true;
  // A wish that was taken back at once may still be granted by whoever heard of it late.
  const auto fewest = fewest_.find({api::name_of(job), role});
  return fewest != fewest_.end() && index >= fewest->second;
}

bool Checker::is_object_justified(const json::Value& object, const json::Value& job) const {
  // What ranks find each other by outlives a pause where the kind promises it.
  const bool outlives = job["spec"]["runMode"].is_object() && api::kind_of(object) != "PodGroup";
  if (ledger_of(job).phase == plan::Phase::Suspended) return !outlives;
  if (object["data"]["PADDLE_TRAINERS"].is_string()) return !tells_the_truth(object, job);
  // The Service of a rank: JOB-ROLE-INDEX.
  const std::string prefix = api::name_of(job) + "-";
  if (!api::name_of(object).starts_with(prefix)) return false;
  const auto parts = split(std::string_view(api::name_of(object)).substr(prefix.size()), '-');
  return parts.size() == 2 &&
         is_surplus(std::string(parts[0]), static_cast<int>(*parse_int(parts[1])), job);
}

bool Checker::tells_the_truth(const json::Value& config, const json::Value& job) const {
  const json::Value& told = config["data"];
  return told["PADDLE_TRAINERS"].as_string() == join(addresses_of(job, "worker"), ",") &&
         told["PADDLE_PSERVERS_IP_PORT_LIST"].as_string().find(
             join(addresses_of(job, "ps"), ":")) != std::string::npos;
}

std::vector<std::string> Checker::addresses_of(const json::Value& job,
                                               const std::string& role) const {
  std::vector<std::string> addresses;
  const std::int64_t ranks = job["spec"][role].is_object() ? replicas_of(job, role) : 0;
  for (int index = 0; index < ranks; ++index) {
    const auto pod =
        stored(api::pods(), {.ns = api::namespace_of(job),
                             .name = fmt::format("{}-{}-{}", api::name_of(job), role, index)});
    const bool there = pod != nullptr && !api::is_deleting(*pod) &&
                       number_in(*pod, plan::labels::kEpoch) == ledger_of(job).epoch;
    addresses.push_back(there ? api::pod_ip_of(*pod) : "(none)");
  }
  return addresses;
}

bool Checker::is_justified(const json::Value& child, bool is_pod) const {
  const auto job = job_of(child);
  if (job == nullptr || api::is_deleting(*job) || !terminal(*job).is_null()) return true;
  const plan::Ledger ledger = ledger_of(*job);
  if (!is_pod) return is_object_justified(child, *job);
  if (number_in(child, plan::labels::kEpoch) < ledger.epoch) return true;
  const std::string& role = api::label_of(child, plan::labels::kRole);
  const int index = std::stoi(api::label_of(child, plan::labels::kIndex));
  const auto tries = ledger.roles.find(role);
  // Of a job that runs only so many at once: whom it stops it has forgotten to have seen.
  if ((*job)["spec"]["parallelism"].is_number())
    return tries != ledger.roles.end() && !tries->second.seen.contains(index);
  if (is_surplus(role, index, *job)) return true;
  return api::phase_of(child) == api::PodPhase::Failed && tries != ledger.roles.end() &&
         number_in(child, plan::labels::kAttempt) < tries->second.attempts.at(index);
}

void Checker::check_transition(const json::Value& old, const json::Value& now) {
  const std::string key = api::key_of(now).text();
  const json::Value& end = terminal(old);
  if (!end.is_null() && terminal(now) != end) {
    violation("S4", "the terminal condition changed: " + key);
  }
  if (!end.is_null() && old["status"]["completionTime"] != now["status"]["completionTime"]) {
    violation("S4", "the completion was re-timed: " + key);
  }
  const plan::Ledger ledger = ledger_of(now);
  const plan::Ledger was = ledger_of(old);
  const json::Value& restarts = now["status"]["muster"]["restartCount"];
  if (restarts.as_int() < old["status"]["muster"]["restartCount"].as_int() ||
      (ledger.epoch == was.epoch && attempts_in(ledger) < attempts_in(was)) ||
      disruptions_in(ledger) < disruptions_in(was) || ledger.epoch < was.epoch) {
    violation("S5", "a counter went backwards: " + key);
  }
  const std::int64_t attempts = attempts_in(ledger);
  if (attempts > failures_[api::uid_of(now)]) {
    violation("S5", fmt::format("{} retries for {} failures: {}", attempts,
                                failures_[api::uid_of(now)], key));
  }
  const json::Value& limit = policy_of(now)["backoffLimit"];
  // The limit of a master is for its own tries.
  const std::int64_t limited =
      now["spec"]["master"].is_object() ? attempts_in(ledger, "master") : attempts;
  if (limit.is_number() && limited - disruptions_in(ledger) > limit.as_int()) {
    violation("S5", "more restarts than the limit: " + key);
  }
}

void Checker::wish(const std::string& job, const std::string& role, int replicas) {
  const auto [entry, first] = fewest_.try_emplace({job, role}, replicas);
  if (!first) entry->second = std::min(entry->second, replicas);
}

void Checker::at_rest(const json::Value& job, const std::vector<api::ObjectPtr>& pods) {
  const plan::Ledger ledger = ledger_of(job);
  if (plan::is_terminal(ledger.phase)) return;  // it says what was, and is never told again
  if (ledger.observed_generation != api::generation_of(job)) {
    violation("S12", fmt::format("{} is at generation {} and its status at {}", api::name_of(job),
                                 api::generation_of(job), ledger.observed_generation));
  }
  std::set<std::string> up;
  for (const api::ObjectPtr& pod : pods) {
    const api::PodPhase phase = api::phase_of(*pod);
    if (api::controller_uid_of(*pod) != api::uid_of(job) || api::is_deleting(*pod)) continue;
    if (number_in(*pod, plan::labels::kEpoch) != ledger.epoch) continue;
    if (phase == api::PodPhase::Running || phase == api::PodPhase::Succeeded) {
      up.insert(api::label_of(*pod, plan::labels::kRole) + "/" +
                api::label_of(*pod, plan::labels::kIndex));
    }
  }
  const std::string& told = job["status"]["muster"]["ranks"].as_string();
  if (!told.starts_with(fmt::format("{}/", up.size()))) {
    violation("S12",
              fmt::format("{} says {} ranks, and {} are up", api::name_of(job), told, up.size()));
  }
}

void Checker::started(const Process& process) {
  history_.note("start {}", incarnation(process));
  const auto [other, first] = live_.try_emplace({process.job_uid, process.rank}, process);
  if (!first) {
    violation("S1", fmt::format("{} runs twice: pods {} and {}", process.rank,
                                other->second.pod_uid, process.pod_uid));
  }
  for (const auto& [place, live] : live_) {
    if (place.first != process.job_uid || live.epoch == process.epoch) continue;
    violation("S2", fmt::format("{} of epoch {} runs beside {} of epoch {}", process.rank,
                                process.epoch, live.rank, live.epoch));
    break;
  }
  // The same try again is right only where a deletion ended the last one, or in the same pod.
  const auto last = last_end_.find(try_of(process));
  if (process.restarts == 0 && last != last_end_.end() && last->second != End::Killed) {
    violation("S3", "started twice: " + incarnation(process));
  }
}

void Checker::was_told(const Process& process, const std::string& address,
                       const json::Value& config) {
  const auto hosts = split(config["data"]["PADDLE_TRAINERS"].as_string(), ',');
  const auto slash = process.rank.find('/');
  const auto index = static_cast<std::size_t>(*parse_int(process.rank.substr(slash + 1)));
  if (!process.rank.starts_with("worker/")) return;
  if (index >= hosts.size() || hosts[index] != address) {
    violation("S10", fmt::format("{} at {} starts with the list {}", incarnation(process), address,
                                 config["data"]["PADDLE_TRAINERS"].as_string()));
  }
}

void Checker::was_given(const Process& process, const std::string& key) {
  const auto [known, first] = keys_.try_emplace(process.job_uid, key);
  if (!first && known->second != key)
    violation("S11", incarnation(process) + " has another key than those before it");
}

void Checker::ended(const Process& process, End end) {
  history_.note("end {} {}", incarnation(process), static_cast<int>(end));
  const auto found = live_.find({process.job_uid, process.rank});
  if (found != live_.end() && found->second.pod_uid == process.pod_uid) live_.erase(found);
  last_end_[try_of(process)] = end;
  if (end == End::Retryable || end == End::Disrupted) ++failures_[process.job_uid];
}

}  // namespace muster::simulation
