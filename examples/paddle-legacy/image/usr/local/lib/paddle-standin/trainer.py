"""`paddle train`: one of the trainers, and the client of all PServers."""
import array
import hashlib
import json
import pathlib
import random
import runpy
import shutil
import socket

import model
import wire
from flags import Flags, fail, log
from shard import Lost, Shard


class Local:
    """No PServer: a single trainer keeps its parameters itself."""

    def __init__(self, rate):
        self.rate = rate
        self.shard = Shard(1)

    def begin(self, values):
        self.shard.start(values)
        return self.shard.get()

    def step(self, gradients, samples):
        return self.shard.step(0, self.rate, samples, gradients)

    def end_pass(self):
        return self.shard.end_pass(0, self.rate)

    def leave(self):
        pass


class Remote:
    """Parameter i lives on endpoint i modulo their number; every PServer gives ports_num endpoints."""

    def __init__(self, flags, rate):
        self.trainer, self.rate = flags.trainer_id, rate
        self.connections = []
        for address in flags.pservers.split(","):
            for port in range(flags.port, flags.port + flags.ports_num):
                log(f"pserver {len(self.connections)} {address}:{port}")
                connection = socket.create_connection((address, port), timeout=None)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections.append(connection)
        self.tell({"do": "join", "trainer": self.trainer})

    def begin(self, values):
        if self.trainer == 0:
            self.tell({"do": "start"}, values)
        return self.ask({"do": "get"})

    def step(self, gradients, samples):
        return self.ask({"do": "step", "rate": self.rate, "samples": samples}, gradients)

    def end_pass(self):
        return self.ask({"do": "end-pass", "rate": self.rate})

    def leave(self):
        self.tell({"do": "leave"})

    def tell(self, facts, numbers=()):
        every = len(self.connections)
        for i, connection in enumerate(self.connections):
            wire.send(connection, facts, numbers[i::every])

    def ask(self, facts, numbers=()):
        self.tell(facts, numbers)
        parts = [self.answer(connection) for connection in self.connections]
        values = [0.0] * sum(len(part) for part in parts)
        for i, part in enumerate(parts):
            values[i::len(parts)] = part
        return values

    @staticmethod
    def answer(connection):
        message = wire.receive(connection)
        if message is None:
            raise Lost("a PServer went away")
        facts, numbers = message
        if "error" in facts:
            raise Lost(facts["error"])
        return numbers


def save(directory, number, weights):
    """output/pass-00003 with a file a parameter, complete or not at all."""
    place = pathlib.Path(directory) / f"pass-{number:05}"
    making = place.with_name(f".{place.name}")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    (making / "___fc_layer_0__.w0").write_text(json.dumps(weights[:-1]))
    (making / "___fc_layer_0__.wbias").write_text(json.dumps(weights[-1:]))
    (making / "done").touch()
    shutil.rmtree(place, ignore_errors=True)
    making.rename(place)


def train_pass(flags, config, samples, parameters, weights, number):
    """One look at all our samples; gives the new weights and the mean cost."""
    cost = count = 0
    for i, batch in enumerate(model.batches(samples, config["batch_size"]), 1):
        gradients, batch_cost = model.gradient(weights, batch)
        cost, count = cost + batch_cost, count + len(batch)
        weights = parameters.step(gradients, len(batch))
        if i % flags.log_period == 0:
            log(f"Pass={number} Batch={i} samples={count} AvgCost={cost / count:.6f}")
    return parameters.end_pass(), cost / max(count, 1)


def train(flags):
    config = runpy.run_path(flags.config)
    samples = model.read_samples(config["train_data"], config["features"])
    parameters = Local(config["learning_rate"]) if flags.local else Remote(flags, config["learning_rate"])
    chosen = random.Random(1)
    weights = parameters.begin([chosen.uniform(-0.1, 0.1) for _ in range(config["features"] + 1)])
    for number in range(flags.num_passes):
        weights, cost = train_pass(flags, config, samples, parameters, weights, number)
        log(f"Pass={number} samples={len(samples)} AvgCost={cost:.6f}")
        if flags.trainer_id == 0 and flags.save_dir and (number + 1) % flags.saving_period == 0:
            save(flags.save_dir, number, list(weights))
    parameters.leave()
    digest = hashlib.sha256(array.array("d", weights).tobytes()).hexdigest()
    log(f"trainer {flags.trainer_id} ends with weights sha256:{digest}")


def main(words):
    log("commandline: paddle train " + " ".join(words))
    flags = Flags(words)
    if flags.use_gpu:
        return fail("this stand-in has no use for a GPU: --use_gpu=0")
    try:
        train(flags)
    except (OSError, ValueError, KeyError, Lost) as error:
        return fail(f"trainer {flags.trainer_id}: {type(error).__name__}: {error}")
    return 0
