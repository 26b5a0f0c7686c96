"""Training with PaddlePaddle 2's parameter servers on CPUs. TRAINING_ROLE says whether this process serves or trains."""
import hashlib
import pathlib
import tempfile

import numpy as np
import paddle
from paddle.distributed import fleet
from paddle.distributed.ps.utils.public import get_the_one_recv_context

FEATURES, CLASSES, BATCH, STEPS = 16, 5, 32, 200


def examples(rank, count):
    """Samples of this rank and their labels: every class is a cloud around a centre, and all ranks know the same centres."""
    centres = np.random.default_rng(1).normal(size=(CLASSES, FEATURES))
    chance = np.random.default_rng(100 + rank)
    labels = chance.integers(CLASSES, size=count)
    return centres[labels] + chance.normal(scale=0.7, size=(count, FEATURES)), labels


def data_file(directory, rank):
    """A file as Paddle's datasets read it: of each variable how many values it has, then the values; a sample a line."""
    path = pathlib.Path(directory, "part-0")
    samples, labels = examples(rank, BATCH * STEPS)
    path.write_text("".join(f"{FEATURES} {' '.join(f'{x:.6f}' for x in sample)} 1 {label}\n" for sample, label in zip(samples, labels)))
    return str(path)


def network():
    """Softmax regression: its inputs, and the loss."""
    samples = paddle.static.data("samples", [None, FEATURES], "float32")
    labels = paddle.static.data("labels", [None, 1], "int64")
    scores = paddle.static.nn.fc(samples, CLASSES)
    return [samples, labels], paddle.mean(paddle.nn.functional.cross_entropy(scores, labels))


def weights_of_servers():
    """All weights, freshly from the servers: what a trainer has at hand may be some steps behind."""
    handle = fleet.fleet._runtime_handle  # there is no other way to ask for them
    handle._pull_all_dense(handle.scopes, handle._send_ctx, get_the_one_recv_context(handle.context))
    parameters = paddle.static.default_main_program().all_parameters()
    return [np.array(paddle.static.global_scope().find_var(one.name).get_tensor()) for one in parameters]


def measured_loss(weights):
    """On samples that nobody trains on, the same on all ranks."""
    samples, labels = examples(1000, 256)
    matrix, biases = sorted(weights, key=lambda array: -array.ndim)
    scores = samples @ matrix + biases
    return float(np.mean(np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(labels)), labels]))


def train(inputs):
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    fleet.init_worker()
    rank, size = fleet.worker_index(), fleet.worker_num()
    before = measured_loss(weights_of_servers())
    fleet.barrier_worker()
    with tempfile.TemporaryDirectory() as directory:
        dataset = paddle.distributed.QueueDataset()
        dataset.init(batch_size=BATCH, use_var=inputs, pipe_command="cat", thread_num=1)
        dataset.set_filelist([data_file(directory, rank)])
        executor.train_from_dataset(paddle.static.default_main_program(), dataset, thread=1)
    fleet.barrier_worker()
    weights = weights_of_servers()
    digest = hashlib.sha256(b"".join(array.tobytes() for array in weights)).hexdigest()
    print(f"rank {rank} of {size}: loss {before:.4f} at step 0, {measured_loss(weights):.4f} at step {STEPS}; weights {digest}", flush=True)
    fleet.barrier_worker()
    fleet.stop_worker()


def main():
    paddle.enable_static()
    paddle.seed(1)
    fleet.init(fleet.PaddleCloudRoleMaker(is_collective=False))
    inputs, loss = network()
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True  # nobody waits for anybody: what the servers have in the end is a little different every time
    fleet.distributed_optimizer(paddle.optimizer.SGD(learning_rate=0.05), strategy).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()  # until it is stopped
    else:
        train(inputs)


if __name__ == "__main__":
    main()
