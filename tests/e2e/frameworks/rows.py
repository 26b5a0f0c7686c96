"""The rows: which example trains with which framework, and how many ranks must agree."""
import dataclasses
import re
import subprocess

from checks import ROOT, check, equal
from frameworks.environments import PYTHON

# What every rank says in the end, behind the name that `muster run` gives it: w0, w1, m0.
RESULT = re.compile(r"^(?:(\w+) +│ )?rank (\d+) of (\d+): loss ([\d.]+) at step \d+, ([\d.]+) at step \d+; weights ([0-9a-f]{64})$", re.M)


@dataclasses.dataclass(frozen=True)
class Row:
    """An example of examples/, run as it is but for the python that it starts."""

    name: str
    manifest: str            # below examples/
    ranks: int
    environment: str = ""    # of environments.py; none: Debian's python3
    changes: tuple = ()      # (text, text) of the manifest: what a reader of the example would change by hand
    alone: tuple = ()        # a command that must end with the same weights in one process
    ordered: bool = True     # ranks are in the order of the pods; false: the framework gives them out itself

    def train(self, cluster, environments):
        ended = cluster.run(self.text(environments)).expect(0)
        weights = self.agreed_weights(ended.out)
        if self.alone:
            done = subprocess.run([PYTHON, *self.alone], cwd=ROOT / "examples", text=True, capture_output=True, timeout=60, check=True)
            equal(weights, self.agreed_weights(done.stdout), "weights, as one process has them")

    def text(self, environments):
        """The manifest with absolute paths: pods of Kubernetes do not start where the submitter stands."""
        python = environments.python(self.environment) if self.environment else PYTHON
        text = (ROOT / "examples" / self.manifest).read_text()
        for old, new in self.changes:
            check(old in text, f"{self.manifest} has no {old!r} any more")
            text = text.replace(old, new)
        return re.sub(r"(?<![\w/.-])python3(?=,? )", str(python), text).replace(" examples/", f" {environments.examples}/")

    def agreed_weights(self, output):
        """Every rank told its result, in the order of the pods where it is ours to give; its loss fell to less than half; all ended with the
        same weights: their hash."""
        results = sorted(RESULT.findall(output), key=lambda result: result[0] if self.ordered else int(result[1]))
        equal([int(rank) for _, rank, *_ in results], list(range(self.ranks)), f"ranks by pod that told their result in {output[-2000:]!r}")
        for _, rank, size, first, last, _ in results:
            equal(int(size), self.ranks, f"number of ranks as rank {rank} sees it")
            check(float(last) < float(first) / 2, f"the loss of rank {rank} fell from {first} to {last} only")
        hashes = {rank: weights for _, rank, *_, weights in results}
        equal(len(set(hashes.values())), 1, f"different weights: {hashes}")
        return results[0][-1]


ROWS = [
    Row("F1 MSJob, 4 Workers", "mindspore/mindspore.yaml", 4, "mindspore", ordered=False),
    Row("F1 MSJob, standalone Worker", "mindspore/standalone.yaml", 1, "mindspore"),
    Row("F2 MSJob with parameter servers", "mindspore/parameter-server.yaml", 2, alone=("mindspore/train_ps.py", "--workers", "2")),
    Row("F3 MSJob 2020, our own trainer", "mindspore-2020/all-reduce.yaml", 4),
    Row("F3 MSJob 2020, torch", "mindspore-2020/torch.yaml", 4),
    Row("F7 PaddleJob Collective, 2 workers", "paddle/paddlepaddle.yaml", 2, "paddle"),
    Row("F7 PaddleJob Collective, 4 workers", "paddle/paddlepaddle.yaml", 4, "paddle", changes=(("replicas: 2", "replicas: 4"),)),
    Row("F7 PaddleJob Collective, through the launcher", "paddle/paddlepaddle-launch.yaml", 2, "paddle"),
    Row("F8 PaddleJob with parameter servers", "paddle/paddlepaddle-ps.yaml", 2, "paddle-ps"),
]
