"""The parameters that one port of a PServer holds, and the rounds in which all trainers change them together."""
import threading


class Lost(Exception):
    """A trainer went away in the middle: the others cannot go on."""


class Shard:
    """Every call belongs to one trainer and returns when all trainers have come as far."""

    def __init__(self, trainers):
        self.trainers = trainers
        self.changed = threading.Condition()
        self.values = None
        self.here = set()
        self.lost = None
        self.round = self.passes = 0
        self.gradients = {}  # trainer → (its gradients, over how many samples), of this round
        self.finished = set()  # who has no more data in this pass

    def join(self, trainer):
        with self.changed:
            if not 0 <= trainer < self.trainers:
                raise Lost(f"trainer {trainer} of {self.trainers}")
            if trainer in self.here:
                raise Lost(f"two trainers say that they are trainer {trainer}")
            self.here.add(trainer)

    def leave(self, trainer, done):
        with self.changed:
            self.here.discard(trainer)
            if not done and self.lost is None:
                self.lost = trainer
            self.changed.notify_all()

    def start(self, values):
        with self.changed:
            self.values = list(values)
            self.changed.notify_all()

    def get(self):
        with self.changed:
            self.wait(lambda: self.values is not None)
            return self.values

    def step(self, trainer, rate, samples, gradients):
        """Gives the new values once every trainer that still has data has given its gradients."""
        with self.changed:
            now = self.round
            self.gradients[trainer] = (gradients, samples)
            self.apply(rate)
            self.wait(lambda: self.round > now)
            return self.values

    def end_pass(self, trainer, rate):
        with self.changed:
            now = self.passes
            self.finished.add(trainer)
            self.apply(rate)
            if len(self.finished) == self.trainers:
                self.finished.clear()
                self.passes += 1
                self.changed.notify_all()
            self.wait(lambda: self.passes > now)
            return self.values

    def apply(self, rate):
        if not self.gradients or len(self.gradients) + len(self.finished) < self.trainers:
            return
        samples = sum(count for _, count in self.gradients.values())
        # In the order of the trainers, so that the sum does not depend on who came first.
        given = [self.gradients[trainer][0] for trainer in sorted(self.gradients)]
        self.values = [value - rate * sum(parts) / samples for value, *parts in zip(self.values, *given)]
        self.gradients = {}
        self.round += 1
        self.changed.notify_all()

    def wait(self, condition):
        self.changed.wait_for(lambda: condition() or self.lost is not None)
        if not condition():
            raise Lost(f"trainer {self.lost} was lost")

    def idle(self):
        with self.changed:
            return not self.here or self.lost is not None
