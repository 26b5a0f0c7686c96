"""Data-parallel training with PyTorch on CPUs: gloo finds the ranks by MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE."""
import hashlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

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
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)  # every rank begins elsewhere: DistributedDataParallel hands out what rank 0 has
    model = DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Linear(FEATURES, 64), torch.nn.ReLU(), torch.nn.Linear(64, CLASSES)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = torch.nn.CrossEntropyLoss()
    losses = []
    for step, (samples, labels) in zip(range(1, STEPS + 1), batches(rank)):
        loss = criterion(model(samples), labels)
        optimizer.zero_grad()
        loss.backward()  # sums the gradients of all ranks on the way
        optimizer.step()
        losses.append(loss.item())
        if step % 40 == 0:
            print(f"rank {rank} of {size} step {step}: loss {losses[-1]:.4f}", flush=True)
    print(f"rank {rank} of {size}: loss {losses[0]:.4f} at step 1, {losses[-1]:.4f} at step {STEPS}; "
          f"weights {weights_hash(model)}", flush=True)
    # Rank 0 holds the store where all found each other: nobody leaves before everyone is done with it.
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
