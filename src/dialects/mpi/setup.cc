#include "dialects/mpi/setup.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "api/object.h"
#include "api/quantity.h"
#include "dialects/mpi/names.h"

namespace muster::dialects::mpi {
namespace {

constexpr std::size_t kLongestObjectName = 253;

}  // namespace

bool asks_for_sshd(const json::Value& job) {
  return api::annotation_of(job, kRemoteStartAnnotation) == kBySshd;
}

std::string remote_shell(const Setup& setup) {
  if (!setup.sshd) return fmt::format("{} rsh", kAgent);
  // The host keys are pinned: whoever has another is not a pod of this job.
  return fmt::format(
      "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile={0}/known_hosts "
      "-o IdentitiesOnly=yes -i {0}/{1}",
      setup.sshd->auth, kIdentityFile);
}

std::string host_line(const Setup& setup, std::string_view pod, int slots) {
  if (!setup.sshd) return fmt::format("{} slots={}", pod, slots);
  return fmt::format("{}.{} slots={}", pod, setup.service, slots);
}

int slots_by_gpu(const json::Value& container) {
  const auto limit = api::Quantity::from(container["resources"]["limits"]["nvidia.com/gpu"]);
  if (!limit) return 1;
  return static_cast<int>(
      std::clamp<std::int64_t>(limit->milli() / 1000, 1, std::numeric_limits<int>::max()));
}

// The uid is in it whole: it says whose the Secret is, also to somebody who may not read it.
std::string key_name(const Setup& setup) {
  const std::string suffix = fmt::format("-{}-{}", setup.sshd ? "ssh" : "mpi", setup.job.uid);
  const std::size_t room = kLongestObjectName - std::min(kLongestObjectName, suffix.size());
  std::string name = setup.job.name.substr(0, room);
  while (name.ends_with('.') || name.ends_with('-')) name.pop_back();
  return name + suffix;
}

plan::Object make_key(const Setup& setup) {
  plan::Object out{.id = {.resource = api::secrets(), .name = key_name(setup)},
                   .until = plan::Until::JobGone,
                   .source = setup.sshd ? plan::Source::SshKeys : plan::Source::SharedKey};
  out.body = json::Object{{"apiVersion", "v1"}, {"kind", "Secret"}};
  out.body["type"] = setup.sshd ? "kubernetes.io/ssh-auth" : "Opaque";
  return out;
}

plan::Object make_service(const Setup& setup, json::Object selector, json::Object labels) {
  plan::Object out{.id = {.resource = api::services(), .name = setup.service},
                   .until = plan::Until::End};
  const json::Object port = setup.sshd
                                ? json::Object{{"name", kSshPortName}, {"port", kSshPort}}
                                : json::Object{{"name", kAgentPortName}, {"port", kAgentPort}};
  out.body = json::Object{{"apiVersion", "v1"}, {"kind", "Service"}};
  if (!labels.empty()) out.body["metadata"]["labels"] = std::move(labels);
  out.body["spec"] = json::Object{{"clusterIP", "None"},
                                  {"publishNotReadyAddresses", true},
                                  {"selector", std::move(selector)},
                                  {"ports", json::Array{port}}};
  return out;
}

}  // namespace muster::dialects::mpi
