"""Data-parallel training with MindSpore on CPUs; alone where the job has no Scheduler, which is where MS_ROLE comes from."""
import hashlib
import os

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.communication import get_group_size, get_rank, init

FEATURES, CLASSES, BATCH, STEPS = 32, 10, 64, 60


def batches(rank):
    """Endless batches of this rank: every class is a cloud around a centre, and all ranks know the same centres."""
    centres = np.random.default_rng(1).normal(size=(CLASSES, FEATURES))
    chance = np.random.default_rng(100 + rank)
    while True:
        labels = chance.integers(CLASSES, size=BATCH)
        samples = centres[labels] + chance.normal(size=(BATCH, FEATURES))
        yield ms.Tensor(samples, ms.float32), ms.Tensor(labels, ms.int32)


def weights_hash(network):
    digest = hashlib.sha256()
    for parameter in network.get_parameters():
        digest.update(parameter.asnumpy().tobytes())
    return digest.hexdigest()


def join_cluster():
    """This process's rank and the number of ranks. In the Scheduler init() never returns: the process ends with the workers."""
    if "MS_ROLE" not in os.environ:
        return 0, 1
    init()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    return get_rank(), get_group_size()


def main():
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_device("CPU")
    rank, size = join_cluster()
    ms.set_seed(1)  # the same weights on every rank to begin with
    network = nn.SequentialCell(nn.Dense(FEATURES, 64), nn.ReLU(), nn.Dense(64, CLASSES))
    optimizer = nn.SGD(network.trainable_params(), learning_rate=0.1)
    # Sums the gradients of all ranks on the way, as the parallel mode says.
    train_step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.CrossEntropyLoss()), optimizer)
    train_step.set_train()
    losses = []
    for step, (samples, labels) in zip(range(1, STEPS + 1), batches(rank)):
        losses.append(float(train_step(samples, labels).asnumpy()))
        if step % 20 == 0:
            print(f"rank {rank} of {size} step {step}: loss {losses[-1]:.4f}", flush=True)
    print(f"rank {rank} of {size}: loss {losses[0]:.4f} at step 1, {losses[-1]:.4f} at step {STEPS}; "
          f"weights {weights_hash(network)}", flush=True)


if __name__ == "__main__":
    main()
