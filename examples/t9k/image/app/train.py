"""Data-parallel training with Horovod and PyTorch on CPUs: mpirun says which rank this is, MPI adds up the gradients."""
import hashlib

import horovod.torch as hvd
import torch

FEATURES, CLASSES, BATCH, STEPS = 32, 10, 64, 120


def batches(rank):
    """Endless batches of this rank: every class is a cloud around a centre, and all ranks know the same centres."""
    centres = torch.randn(CLASSES, FEATURES, generator=torch.Generator().manual_seed(1))
    chance = torch.Generator().manual_seed(100 + rank)
    while True:
        labels = torch.randint(CLASSES, (BATCH,), generator=chance)
        yield centres[labels] + torch.randn(BATCH, FEATURES, generator=chance), labels


def weights_hash(model):
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().numpy().tobytes())
    return digest.hexdigest()


def main():
    torch.set_num_threads(1)
    hvd.init()
    rank, size = hvd.rank(), hvd.size()
    torch.manual_seed(rank)  # every rank begins elsewhere, then all begin where rank 0 does
    model = torch.nn.Sequential(torch.nn.Linear(FEATURES, 64), torch.nn.ReLU(), torch.nn.Linear(64, CLASSES))
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    # Takes the mean of the gradients of all ranks before each step.
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), named_parameters=model.named_parameters())
    criterion = torch.nn.CrossEntropyLoss()
    losses = []
    for step, (samples, labels) in zip(range(1, STEPS + 1), batches(rank)):
        optimizer.zero_grad()
        loss = criterion(model(samples), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 40 == 0 and rank == 0:
            print(f"step {step}: loss {losses[-1]:.4f}", flush=True)
    told = hvd.allgather_object(f"rank {rank} of {size}: loss {losses[0]:.4f} at step 1, {losses[-1]:.4f} at step {STEPS}; "
                                f"weights {weights_hash(model)}")
    if rank == 0:  # mpirun would mix lines that several ranks print at once
        print(*told, sep="\n", flush=True)
    hvd.shutdown()


if __name__ == "__main__":
    main()
