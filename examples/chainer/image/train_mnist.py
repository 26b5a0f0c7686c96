"""Data-parallel training with ChainerMN on CPUs: pictures of ten made-up digits, as large as those of MNIST. mpiexec says which rank this is;
without it one process trains alone."""
import argparse
import hashlib
import os
import time

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

PIXELS, DIGITS, SAMPLES, NOISE = 28 * 28, 10, 60000, 2.5


class Perceptron(chainer.Chain):
    def __init__(self, units):
        super().__init__()
        with self.init_scope():
            self.first = L.Linear(PIXELS, units)
            self.second = L.Linear(units, units)
            self.third = L.Linear(units, DIGITS)

    def forward(self, pictures):
        return self.third(F.relu(self.second(F.relu(self.first(pictures)))))


class Alone:
    """What the communicator of one process would say."""

    rank, size = 0, 1

    def gather_obj(self, mine):
        return [mine]


def pictures(seed, count):
    """Every digit is a pattern with noise; the patterns are the same for every seed."""
    patterns = np.random.default_rng(1).random((DIGITS, PIXELS), dtype=np.float32)
    chance = np.random.default_rng(seed)
    labels = chance.integers(DIGITS, size=count).astype(np.int32)
    return patterns[labels] + NOISE * chance.standard_normal((count, PIXELS), dtype=np.float32), labels


def weights_hash(model):
    digest = hashlib.sha256()
    for _, parameter in sorted(model.namedparams()):
        digest.update(parameter.array.tobytes())
    return digest.hexdigest()


def join():
    """The communicator of all ranks, and what makes an optimizer take the mean of their gradients."""
    if "OMPI_COMM_WORLD_SIZE" not in os.environ:
        return Alone(), lambda optimizer: optimizer
    import chainermn  # needs MPI, which a process alone may not have
    communicator = chainermn.create_communicator("naive")  # the only one for CPUs
    return communicator, lambda optimizer: chainermn.create_multi_node_optimizer(optimizer, communicator)


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-e", "--epoch", type=int, default=2, help="how often all pictures are seen; default 2")
    parser.add_argument("-b", "--batchsize", type=int, default=100, help="pictures of one step of one rank; default 100")
    parser.add_argument("-u", "--unit", type=int, default=100, help="units of each hidden layer; default 100")
    return parser.parse_args()


def main():
    wanted = options()
    communicator, of_all_ranks = join()
    rank, size = communicator.rank, communicator.size
    if rank == 0:
        print(f"{size} processes, {wanted.unit} units, batches of {wanted.batchsize}, {wanted.epoch} epochs", flush=True)
        print(f"{'epoch':12}{'main/loss':12}{'validation/main/loss':22}{'elapsed_time':12}", flush=True)
    np.random.seed(rank)  # every rank begins elsewhere: the first update hands out what rank 0 has
    model = L.Classifier(Perceptron(wanted.unit))
    optimizer = of_all_ranks(chainer.optimizers.Adam(alpha=0.01))
    optimizer.setup(model)
    steps = max(1, SAMPLES // size // wanted.batchsize)  # of an epoch: each rank sees its share
    unseen = pictures(99, 1000)
    begun, losses = time.monotonic(), []
    for epoch in range(1, wanted.epoch + 1):
        for step in range(steps):
            samples, labels = pictures((epoch * steps + step) * size + rank + 100, wanted.batchsize)
            losses.append(train(optimizer, model, samples, labels, first=not losses, communicator=communicator))
        if rank == 0:
            with chainer.no_backprop_mode(), chainer.using_config("train", False):
                validation = float(model(*unseen).array)
            print(f"{epoch:<12}{np.mean(losses[-steps:]):<12.5f}{validation:<22.5f}{time.monotonic() - begun:<12.2f}", flush=True)
    told = communicator.gather_obj(f"rank {rank} of {size}: loss {losses[0]:.4f} at step 1, {losses[-1]:.4f} at step {len(losses)}; "
                                   f"weights {weights_hash(model)}")
    if rank == 0:  # mpiexec would mix lines that several ranks print at once
        print(*told, sep="\n", flush=True)


def train(optimizer, model, samples, labels, first, communicator):
    """One step; its loss. ChainerMN's first update is none: it hands out the weights of rank 0."""
    if first and communicator.size > 1:
        optimizer.update(model, samples, labels)
    optimizer.update(model, samples, labels)
    return float(model.loss.array)


if __name__ == "__main__":
    main()
