"""Data-parallel training with PaddlePaddle 3 on CPUs: PADDLE_TRAINER_ID and PADDLE_TRAINER_ENDPOINTS say who is where."""
import hashlib

import numpy as np
import paddle
import paddle.distributed as dist

FEATURES, CLASSES, BATCH, STEPS = 32, 10, 64, 60


def batches(rank):
    """Endless batches of this rank: every class is a cloud around a centre, and all ranks know the same centres."""
    centres = np.random.default_rng(1).normal(size=(CLASSES, FEATURES))
    chance = np.random.default_rng(100 + rank)
    while True:
        labels = chance.integers(CLASSES, size=BATCH)
        samples = centres[labels] + chance.normal(size=(BATCH, FEATURES))
        yield paddle.to_tensor(samples, dtype="float32"), paddle.to_tensor(labels, dtype="int64")


def weights_hash(model):
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.numpy().tobytes())
    return digest.hexdigest()


def main():
    paddle.set_device("cpu")
    dist.init_parallel_env()
    rank, size = dist.get_rank(), dist.get_world_size()
    paddle.seed(rank)  # every rank begins elsewhere: DataParallel hands out what rank 0 has
    model = paddle.DataParallel(paddle.nn.Sequential(
        paddle.nn.Linear(FEATURES, 64), paddle.nn.ReLU(), paddle.nn.Linear(64, CLASSES)))
    optimizer = paddle.optimizer.SGD(learning_rate=0.1, parameters=model.parameters())
    criterion = paddle.nn.CrossEntropyLoss()
    losses = []
    for step, (samples, labels) in zip(range(1, STEPS + 1), batches(rank)):
        loss = criterion(model(samples), labels)
        loss.backward()  # sums the gradients of all ranks on the way
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
        if step % 20 == 0:
            print(f"rank {rank} of {size} step {step}: loss {losses[-1]:.4f}", flush=True)
    print(f"rank {rank} of {size}: loss {losses[0]:.4f} at step 1, {losses[-1]:.4f} at step {STEPS}; "
          f"weights {weights_hash(model)}", flush=True)
    # Rank 0 holds the store where all found each other: nobody leaves before everyone is done with it.
    dist.barrier()


if __name__ == "__main__":
    main()
