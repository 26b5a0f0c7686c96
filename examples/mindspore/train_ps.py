"""Training with parameter servers, in nothing but Python's standard library.

Every pod runs this program and finds its part in MS_ROLE. The Scheduler is where all meet; each server keeps a slice of the
weights; the workers fetch the slices, compute gradients on their own data, and hand each server its slice of them. A server
takes a step when it has heard all workers, so a run is the same to the last bit, also in one process:

    python3 train_ps.py --workers 2
"""
import argparse
import hashlib
import json
import math
import os
import random
import socket
import struct
import time

FEATURES, CLASSES, BATCH, STEPS, RATE = 8, 5, 32, 150, 0.5
WEIGHTS = (FEATURES + 1) * CLASSES  # a row for each feature, and one of biases
PATIENCE = 60  # seconds until all have found each other


# --- the model: softmax regression on clouds around random centres

def centres():
    chance = random.Random(1)
    return [[chance.gauss(0, 1) for _ in range(FEATURES)] for _ in range(CLASSES)]


def batches(rank):
    chance, middle = random.Random(100 + rank), centres()
    while True:
        labels = [chance.randrange(CLASSES) for _ in range(BATCH)]
        yield [([x + chance.gauss(0, 0.7) for x in middle[label]] + [1.0], label) for label in labels]


def gradient(weights, batch):
    """The gradient of the batch's mean loss, and that loss."""
    sums, total = [0.0] * WEIGHTS, 0.0
    for sample, label in batch:
        scores = [sum(x * weights[row * CLASSES + c] for row, x in enumerate(sample)) for c in range(CLASSES)]
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        whole = sum(powers)
        total -= math.log(powers[label] / whole)
        for c in range(CLASSES):
            error = (powers[c] / whole - (c == label)) / BATCH
            for row, x in enumerate(sample):
                sums[row * CLASSES + c] += error * x
    return sums, total / BATCH


def step(weights, gradients):
    """Weights after one step with the gradients of all workers, added up in the order of their ranks."""
    rate = RATE / len(gradients)
    return [weight - rate * sum(column) for weight, column in zip(weights, zip(*gradients))]


def report(rank, size, losses, weights):
    digest = hashlib.sha256(struct.pack(f"<{WEIGHTS}d", *weights)).hexdigest()
    print(f"rank {rank} of {size}: loss {losses[0]:.4f} at step 1, {losses[-1]:.4f} at step {STEPS}; weights {digest}", flush=True)


# --- the wire: lines of JSON to meet, then plain doubles

def send(peer, numbers):
    peer.sendall(struct.pack(f"<{len(numbers)}d", *numbers))


def receive(peer, count):
    data = peer.recv(8 * count, socket.MSG_WAITALL)
    if len(data) < 8 * count:
        raise SystemExit("a peer has gone")
    return list(struct.unpack(f"<{count}d", data))


def say(peer, message):
    peer.sendall(json.dumps(message).encode() + b"\n")


def hear(peer):
    line = b""
    while not line.endswith(b"\n"):
        part = peer.recv(1)  # no more than the line: what follows it are numbers
        if not part:
            raise SystemExit("a peer has gone")
        line += part
    return json.loads(line)


def connected(address):
    latest = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(address, 10)
        except OSError as error:
            if time.monotonic() > latest:
                raise SystemExit(f"nobody listens at {address[0]}:{address[1]}: {error}") from None
            time.sleep(0.1)


# --- the roles

def slice_of(index, servers):
    """The part of the weights that a server keeps."""
    return slice(index * WEIGHTS // servers, (index + 1) * WEIGHTS // servers)


def scheduler(port, servers, workers):
    """Waits for all, then tells each its number, in the order of the node ids, and where the servers are."""
    listener = socket.create_server(("", port))
    peers = {"MS_PSERVER": {}, "MS_WORKER": {}}
    while len(peers["MS_PSERVER"]) < servers or len(peers["MS_WORKER"]) < workers:
        peer = listener.accept()[0]
        message = hear(peer)
        peers[message["role"]][message["id"]] = (peer, message["address"])
    addresses = [peers["MS_PSERVER"][name][1] for name in sorted(peers["MS_PSERVER"])]
    for members in peers.values():
        for number, name in enumerate(sorted(members)):
            say(members[name][0], {"number": number, "servers": addresses})
    print(f"scheduler: {servers} servers and {workers} workers have met", flush=True)
    for peer, _ in peers["MS_WORKER"].values():
        peer.recv(1)  # ends when the worker has


def meet(environment, port=0):
    """This process's number among its role, and the addresses of all servers. Keep the link: it shows that we live."""
    link = connected((environment["MS_SCHED_HOST"], int(environment["MS_SCHED_PORT"])))
    link.settimeout(None)
    say(link, {"role": environment["MS_ROLE"], "id": environment["MS_NODE_ID"], "address": [link.getsockname()[0], port]})
    answer = hear(link)
    return link, answer["number"], [tuple(address) for address in answer["servers"]]


def server(environment, workers):
    listener = socket.create_server(("", 0))
    _link, number, servers = meet(environment, listener.getsockname()[1])
    peers = {}
    while len(peers) < workers:
        peer = listener.accept()[0]
        peers[hear(peer)["rank"]] = peer
    ordered = [peers[rank] for rank in sorted(peers)]
    part = slice_of(number, len(servers))
    weights = [0.0] * (part.stop - part.start)
    for _ in range(STEPS):
        for peer in ordered:
            send(peer, weights)
        weights = step(weights, [receive(peer, len(weights)) for peer in ordered])
    for peer in ordered:
        send(peer, weights)
    print(f"server {number} of {len(servers)}: kept {len(weights)} of {WEIGHTS} weights for {STEPS} steps", flush=True)


def worker(environment, workers):
    _link, rank, servers = meet(environment)
    peers = [connected(address) for address in servers]
    parts = [slice_of(number, len(servers)) for number in range(len(servers))]
    for peer in peers:
        peer.settimeout(None)
        say(peer, {"rank": rank})

    def fetched():
        return [weight for peer, part in zip(peers, parts) for weight in receive(peer, part.stop - part.start)]

    losses = []
    for number, batch in zip(range(1, STEPS + 1), batches(rank)):
        sums, loss = gradient(fetched(), batch)
        for peer, part in zip(peers, parts):
            send(peer, sums[part])
        losses.append(loss)
        if number % 50 == 0:
            print(f"rank {rank} of {workers} step {number}: loss {loss:.4f}", flush=True)
    report(rank, workers, losses, fetched())


def alone(workers):
    weights, losses = [0.0] * WEIGHTS, [[] for _ in range(workers)]
    for _, *parts in zip(range(STEPS), *map(batches, range(workers))):
        computed = [gradient(weights, part) for part in parts]
        weights = step(weights, [sums for sums, _ in computed])
        for known, (_, loss) in zip(losses, computed):
            known.append(loss)
    for rank, known in enumerate(losses):
        report(rank, workers, known, weights)


def main():
    arguments = argparse.ArgumentParser(description="Trains with parameter servers; without MS_ROLE in one process.")
    arguments.add_argument("--workers", type=int, default=1, help="ranks for which one process computes")
    simulated = arguments.parse_args().workers
    environment = os.environ
    role = environment.get("MS_ROLE")
    if role is None:
        return alone(simulated)
    servers, workers = int(environment["MS_SERVER_NUM"]), int(environment["MS_WORKER_NUM"])
    if servers == 0:
        raise SystemExit("MS_SERVER_NUM is 0: the job needs the role PS")
    if role == "MS_SCHED":
        return scheduler(int(environment["MS_SCHED_PORT"]), servers, workers)
    if role == "MS_PSERVER":
        return server(environment, workers)
    return worker(environment, workers)


if __name__ == "__main__":
    main()
