"""Logistic regression: what a trainer computes from its lines of data."""
import math


def read_samples(path, features):
    """Lines of label, tab, numbers."""
    samples = []
    with open(path, encoding="ascii") as lines:
        for number, line in enumerate(lines, 1):
            label, _, rest = line.partition("\t")
            values = [float(word) for word in rest.split()]
            if len(values) != features:
                raise ValueError(f"{path}:{number}: {len(values)} numbers, not {features}")
            samples.append((int(label), values))
    return samples


def batches(samples, size):
    for begin in range(0, len(samples), size):
        yield samples[begin:begin + size]


def gradient(weights, batch):
    """The sum of the gradients and of the costs; the last weight is the bias."""
    total, cost = [0.0] * len(weights), 0.0
    for label, values in batch:
        score = weights[-1] + sum(w * v for w, v in zip(weights, values))
        score = max(-30.0, min(30.0, score))
        guess = 1 / (1 + math.exp(-score))
        cost -= math.log(guess if label else 1 - guess)
        slope = guess - label
        for i, value in enumerate(values):
            total[i] += slope * value
        total[-1] += slope
    return total, cost
