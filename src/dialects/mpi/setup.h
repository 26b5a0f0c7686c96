#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"
#include "plan/plan.h"

// What the pods of a job need so that Open MPI starts ranks in them: the agent or sshd, a key, and
// names for each other.
namespace muster::dialects::mpi {

// Where the agent is in every container that can see it.
inline constexpr std::string_view kAgent = "/muster/bin/muster-agent";
// At which it listens in workers.
inline constexpr int kAgentPort = 8122;
inline constexpr std::string_view kAgentPortName = "muster-mpi";
// On a job: "sshd" has ranks started by sshd, in place of the agent.
inline constexpr std::string_view kRemoteStartAnnotation = "muster.dev/remote-start";

// Ranks are started by the image's own sshd.
struct Sshd {
  std::string path = "/usr/sbin/sshd";  // of the program
  std::string auth = "/root/.ssh";      // where the keys are mounted
};

// One job, as far as its pods have to find and reach each other.
struct Setup {
  plan::JobRef job;
  std::string service;  // headless, over the workers: it gives them names
  std::string agent_image;
  std::optional<Sshd> sshd;  // none: the agent starts ranks
};

// Whether the job's annotation asks for sshd.
bool asks_for_sshd(const json::Value& job);

// What Open MPI is to call for a start on another host, `plm_rsh_agent`: the agent, or ssh with the
// keys of the job. HOST and the command come behind it.
std::string remote_shell(const Setup& setup);

// "POD slots=N" for a line of a host file, without its end. Where ssh has to find the pod by itself
// the name of the Service is added.
std::string host_line(const Setup& setup, std::string_view pod, int slots);

// As many slots as the container may use GPUs (the limit of nvidia.com/gpu), at least 1.
int slots_by_gpu(const json::Value& container);

// The Secret with the job's own key, or its ssh keys; the controller fills it. Goes with the job.
// It is made for roles that name it in `after`: all that are reachable or launch.
plan::Object make_key(const Setup& setup);

// The headless Service that gives every pod under the selector a name, ready or not. Stays when the
// job is suspended.
plan::Object make_service(const Setup& setup, json::Object selector, json::Object labels = {});

}  // namespace muster::dialects::mpi
