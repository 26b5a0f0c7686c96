#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/check/findings.h"
#include "json/value.h"
#include "plan/plan.h"

// A PaddleJob as it was meant: roles found, defaults filled in. In memory only.
namespace muster::dialects::paddle {

inline constexpr std::string_view kServer = "ps";
inline constexpr std::string_view kWorker = "worker";
inline constexpr std::string_view kHeter = "heter";
inline constexpr std::array kRoles = {kServer, kWorker, kHeter};

// Each pod has so many ports from the job's on.
inline constexpr int kPorts = 20;
inline constexpr int kServicePort = 36'000;

// How ranks reach each other.
enum class Intranet { PodIp, Service, Host };

// Lives no longer than the job it was decoded from, as all of Job.
struct RoleSpec {
  std::string name;
  Path path;
  const json::Value* spec = nullptr;
  int replicas = 0;

  [[nodiscard]] const json::Value& pod() const { return (*spec)["template"]; }
};

struct Job {
  const json::Value* object = nullptr;
  plan::JobRef ref;
  std::vector<RoleSpec> roles;  // those that have pods: ps, worker, heter
  Intranet intranet = Intranet::PodIp;
  bool elastic = false;
  std::int64_t gloo = 0;  // 0: off

  [[nodiscard]] const json::Value& spec() const { return (*object)["spec"]; }
  [[nodiscard]] int replicas(std::string_view role) const;  // 0 when it is not there
  [[nodiscard]] int total() const;
  [[nodiscard]] std::string pod_name(std::string_view role, int index) const;
  // The first port of every rank. Where names lead to pods it is fixed, because their Services list
  // it; else it differs from job to job, so that jobs may share a host, and follows from the uid.
  [[nodiscard]] int port() const;
  // What every rank is told of the others when it starts. Who was told something else cannot take
  // part, so another text means another run; elastic ranks are told nothing.
  [[nodiscard]] std::string run_key() const;
};

// Total: what is not as it should be reads as its default. Validation is somewhere else.
Job decode(const api::Resource& resource, const json::Value& job);

}  // namespace muster::dialects::paddle
