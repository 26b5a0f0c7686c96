#include "dialects/t9k_mpi/fields.h"

#include <array>

#include <fmt/format.h>

#include "dialects/check/job_fields.h"
#include "dialects/t9k/run_mode.h"
#include "dialects/t9k/scheduler.h"
#include "dialects/t9k/status.h"
#include "dialects/t9k_mpi/rules.h"

namespace muster::dialects::t9k_mpi {
namespace {

constexpr int kMostWorkers = kMostPods - 1;  // one is the launcher

constexpr auto kWorkerLayout = std::to_array<Field>({
    {.path = "worker",
     .type = Type::Object,
     .doc = "The workers, in which ranks run, and what they run. The launcher is a copy of them."},
    {.path = "worker.replicas",
     .type = Type::Int32,
     .fallback = "1",
     .minimum = 1,
     .maximum = kMostWorkers,
     .doc = "Number of workers."},
    {.path = "worker.extraMPIArgs",
     .type = Type::List,
     .maximum = 1000,
     .doc = "Arguments of mpirun, before the program; -N says how many ranks a worker has."},
    {.path = "worker.extraMPIArgs[]", .type = Type::String, .doc = "One argument."},
    {.path = "worker.cmd",
     .type = Type::List,
     .maximum = 1000,
     .doc = "The program that every rank runs, with its arguments."},
    {.path = "worker.cmd[]", .type = Type::String, .doc = "A word of it."},
    {.path = "worker.processesPerWorker",
     .type = Type::Int32,
     .minimum = 1,
     .maximum = 100'000,
     .doc = "The older way to say -N."},
    {.path = "worker.processRecovery",
     .type = Type::Object,
     .doc = "The older way to say --enable-recovery and --max-restarts."},
    {.path = "worker.processRecovery.enable",
     .type = Type::Bool,
     .fallback = "false",
     .doc = "Whether ranks that failed are restarted."},
    {.path = "worker.processRecovery.enabled",
     .type = Type::Bool,
     .doc = "Another spelling of enable."},
    {.path = "worker.processRecovery.limit",
     .type = Type::Int32,
     .minimum = 0,
     .doc = "How often."},
    {.path = "worker.template",
     .type = Type::Open,
     .doc = "The pod template of workers and launcher; every field that Kubernetes knows may stand "
            "in it. Ranks run in the container mpi-worker, whose command and args are not used."},
    {.path = "mca", .type = Type::Map, .maximum = 1000, .doc = "MCA parameters of Open MPI."},
    {.path = "mca.*", .type = Type::String, .doc = "The value of one parameter."},
    {.path = "mpiHome",
     .type = Type::String,
     .format = Format::HostPath,
     .doc = "Where Open MPI is in the image: mpirun is bin/mpirun below it."},
});

constexpr auto kListLayout = std::to_array<Field>({
    {.path = "mpiConfig", .type = Type::Object, .doc = "What is to run, and how mpirun is called."},
    {.path = "mpiConfig.script",
     .type = Type::List,
     .maximum = 1000,
     .doc = "The program that every rank runs, with its arguments."},
    {.path = "mpiConfig.script[]", .type = Type::String, .doc = "A word of it."},
    {.path = "mpiConfig.extraArgs",
     .type = Type::List,
     .maximum = 1000,
     .doc = "Arguments of mpirun, before the program; -N says how many ranks a worker has."},
    {.path = "mpiConfig.extraArgs[]", .type = Type::String, .doc = "One argument."},
    {.path = "mpiConfig.mca",
     .type = Type::Map,
     .maximum = 1000,
     .doc = "MCA parameters of Open MPI."},
    {.path = "mpiConfig.mca.*", .type = Type::String, .doc = "The value of one parameter."},
    {.path = "mpiConfig.home",
     .type = Type::String,
     .format = Format::HostPath,
     .doc = "Where Open MPI is in the image: mpirun is bin/mpirun below it."},
    {.path = "replicaSpecs", .type = Type::List, .maximum = 16, .doc = "Workers and launcher."},
    {.path = "replicaSpecs[]", .type = Type::Object, .doc = "The pods of one role."},
    {.path = "replicaSpecs[].type",
     .type = Type::String,
     .required = true,
     .allowed = "launcher|worker",
     .doc = "The role: worker or launcher."},
    {.path = "replicaSpecs[].replicas",
     .type = Type::Int32,
     .fallback = "1",
     .minimum = 1,
     .maximum = kMostWorkers,
     .doc = "Number of pods; there is one launcher."},
    {.path = "replicaSpecs[].restartPolicy",
     .type = Type::Object,
     .doc = "What happens to pods of the role that failed."},
    {.path = "replicaSpecs[].restartPolicy.policy",
     .type = Type::String,
     .fallback = "OnFailure",
     .allowed = "Always|OnFailure|Never",
     .doc = "Whether they are made anew."},
    {.path = "replicaSpecs[].restartPolicy.limit",
     .type = Type::Int32,
     .minimum = 0,
     .doc = "How often, all pods of the role together. Default 0; with Always, as often as it "
            "takes."},
    {.path = "replicaSpecs[].template",
     .type = Type::Open,
     .doc = "The pod template; that of the launcher may be empty, and is then a copy of the "
            "worker's. Ranks run in the container worker, whose command and args are not used."},
});

constexpr auto kBoth = std::to_array<Field>({
    {.path = "ssh",
     .type = Type::Object,
     .doc = "Ranks are started by Muster's agent; with sshAuthMountPath by the image's own sshd."},
    {.path = "ssh.sshdPath",
     .type = Type::String,
     .fallback = "/usr/sbin/sshd",
     .format = Format::HostPath,
     .doc = "Where sshd is in the image. Alone it does not ask for sshd."},
    {.path = "ssh.sshAuthMountPath",
     .type = Type::String,
     .format = Format::HostPath,
     .doc = "Where the job's ssh keys are mounted, such as /root/.ssh; asks for sshd."},
    {.path = "ssh.authMountPath",
     .type = Type::String,
     .format = Format::HostPath,
     .doc = "Another spelling of sshAuthMountPath."},
    {.path = "runPolicy", .type = Type::Object, .doc = "What happens after the end."},
    {.path = "runPolicy.cleanUpWorkers",
     .type = Type::Bool,
     .fallback = "false",
     .doc = "Whether workers are deleted when the job has ended. The launcher stays, for its log."},
});

std::vector<CelRule> cel_rules() {
  const auto count = [](std::string_view type) {
    return fmt::format("self.filter(r, r.type == '{}').size()", type);
  };
  std::vector<CelRule> out = {
      {.at = "spec",
       .rule = "(has(self.replicaSpecs) || has(self.mpiConfig)) ? !has(self.worker) && "
               "!has(self.mca) && !has(self.mpiHome) : true",
       .message = std::string(kMixed),
       .reason = "FieldValueForbidden"},
      {.at = "spec",
       .rule = "has(self.worker) ? has(self.worker.cmd) && self.worker.cmd.size() > 0 : "
               "has(self.mpiConfig) && has(self.mpiConfig.script) && "
               "self.mpiConfig.script.size() > 0",
       .message = std::string(kNeedsAProgram),
       .reason = "FieldValueRequired"},
      {.at = "spec",
       .rule = "has(self.worker) || has(self.replicaSpecs)",
       .message = std::string(kNeedsWorkers),
       .reason = "FieldValueRequired"},
      {.at = "spec.worker",
       .rule = "!has(self.extraMPIArgs) || (!has(self.processesPerWorker) && "
               "!has(self.processRecovery))",
       .message = std::string(kMixedArguments),
       .reason = "FieldValueForbidden"},
      {.at = "spec.replicaSpecs",
       .rule = fmt::format("{} == 1", count("worker")),
       .message = std::string(kNeedsWorkers),
       .reason = "FieldValueRequired"},
      {.at = "spec.replicaSpecs",
       .rule = fmt::format("{} <= 1 && self.all(r, r.type != 'launcher' || !has(r.replicas) || "
                           "r.replicas == 1)",
                           count("launcher")),
       .message = std::string(kOneLauncher)}};
  for (CelRule& rule : t9k::run_mode_rules()) out.push_back(std::move(rule));
  return out;
}

}  // namespace

FieldTable job_fields() {
  FieldTable table(object_fields());
  table.add("spec", kWorkerLayout);
  table.add("spec", kListLayout);
  table.add("spec", kBoth);
  t9k::add_run_mode("launcher|worker", table);
  t9k::add_scheduler(table);
  return table;
}

json::Value schema() {
  return job_schema(job_fields(),
                    "A job of Open MPI: mpirun in a launcher starts ranks of one program in a "
                    "number of workers.",
                    {"spec.worker", "spec.replicaSpecs[]"}, t9k::status_fields(), cel_rules());
}

}  // namespace muster::dialects::t9k_mpi
