#pragma once

#include "agent/verbs.h"

// What the start script in the images of seed-time PaddlePaddle training Jobs did: from the
// environment of a pod of a batch/v1 Job to a PServer and a trainer that find those of all others.
namespace muster::agent::paddle_legacy {

Task<Result<int>> run(VerbContext& context);

inline constexpr Verb kVerb{
    .name = "paddle-legacy",
    .summary = "PServer and trainer of a PaddlePaddle training Job, from the pod's environment",
    .help = R"(usage: muster-agent paddle-legacy [--NAME=VALUE | --NAME VALUE]…

Waits until CONF_PADDLE_GRADIENT_NUM pods of the Job run, starts `paddle pserver`, waits until the PServers of
all pods listen, runs `paddle train` and ends with its exit code. The trainer's id is the position of the pod's
address among those of all pods, sorted as text.

Options are the trainer's; they replace these: --dot_period=10 --log_period=50 --num_passes=10
--saving_period=1 --local=0 --config=trainer_config.lr.py --use_gpu=0, and --ports_num,
--ports_num_for_sparse and --trainer_count from the environment.

Environment (without a default where none is given):
  JOB_NAME                       label job-name of the Job's pods, and the job's directory in JOB_PATH
  JOB_NAMESPACE                  of the Job; default: the pod's own
  JOB_PATH                       where the shared file system is mounted
  TRAIN_CONFIG_DIR               configuration in the job's directory, copied into the work directory
  CONF_PADDLE_NIC                network device, --nics
  CONF_PADDLE_PORT               first port of the PServers, --port
  CONF_PADDLE_PORTS_NUM          ports for dense parameters, --ports_num
  CONF_PADDLE_PORTS_NUM_SPARSE   ports for sparse ones, --ports_num_for_sparse
  CONF_PADDLE_GRADIENT_NUM       how many pods train, --num_gradient_servers
  TRAINER_COUNT                  threads of a trainer, --trainer_count; default: 1
  MUSTER_WORK_DIRECTORY          where both programs get their own directory; default: /root

The pod's service account must be allowed to list the pods of the namespace.
)",
    .run = run};

}  // namespace muster::agent::paddle_legacy
