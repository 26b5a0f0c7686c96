"""The rows: which example trains with which framework, and how many ranks must agree."""
import collections
import dataclasses
import re
import subprocess

from checks import ROOT, check, equal
from frameworks.environments import PYTHON

# What every rank says in the end, behind the name that `muster run` gives it: w0, w1, m0.
RESULT = re.compile(r"^(?:(\w+) +│ )?rank (\d+) of (\d+): loss ([\d.]+) at step \d+, ([\d.]+) at step \d+; weights ([0-9a-f]{64})$", re.M)
# Where mpiexec --display-map says that it starts ranks.
MAPPED = re.compile(r"Data for node: (\S+)\s+Num slots: \d+\s+Max slots: \d+\s+Num procs: (\d+)")
# What the walk's first rank says of all in the end.
WALKED = re.compile(r"^(?:\w+ +│ )?rank (\d+) of (\d+) on (\S+): \d+ walkers ended here, \d+ were sent on$", re.M)
ACCEPTED = re.compile(r"^w(\d+) +│ Accepted publickey for root ", re.M)  # what sshd says in a worker
NONE_LOST = re.compile(r"^(?:\w+ +│ )?(\d+) of (\d+) walkers ended where their steps lead, 0 are lost$", re.M)


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
    program: str = ""        # of environments.py, which the manifest starts
    hosts: tuple = ()        # pods that mpiexec --display-map names, and how many ranks it starts in each
    group: tuple = ()        # the PodGroup that T9k's scheduler sees on Kubernetes: name, (field, value)…

    def train(self, cluster, environments):
        ended = cluster.run(self.text(environments)).expect(0)
        if self.group and cluster.groups:
            made = [(one["metadata"]["name"], *sorted(one["spec"].items())) for one in cluster.groups()]
            check(self.group in made, f"no PodGroup {self.group} was created: {made}")
        if self.hosts:
            # Its daemon on each host prints the whole map.
            seen = {(re.sub(r"-master-.*", "-master", host), int(ranks)) for host, ranks in MAPPED.findall(ended.out)}
            equal(seen, set(self.hosts), f"ranks by pod, as mpiexec maps them in {ended.out[:2000]!r}")
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
        return re.sub(r"(?<![\w/.-])python3(?=,? |$)", str(python), text, flags=re.M).replace(" examples/", f" {environments.examples}/")

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


@dataclasses.dataclass(frozen=True)
class Walk(Row):
    """The random walk: nothing is trained, and no walker may be lost."""

    walkers: int = 2         # of a rank
    ranks_of_host: int = 3
    sshd: bool = False       # starts the ranks, instead of the agent

    def train(self, cluster, environments):
        environments.program(self.program)
        ended = cluster.run(self.text(environments)).expect(0)
        walked = sorted(WALKED.findall(ended.out), key=lambda rank: int(rank[0]))
        equal([int(rank) for rank, *_ in walked], list(range(self.ranks)), f"ranks that told their result in {ended.out[-2000:]!r}")
        equal({int(size) for _, size, _ in walked}, {self.ranks}, "number of ranks as they see it")
        hosts = collections.Counter(host.partition(".")[0] for *_, host in walked)
        equal(dict(hosts), {host: self.ranks_of_host for host in self.hosts}, "ranks by pod")
        equal({int(worker) for worker in ACCEPTED.findall(ended.out)}, set(range(len(self.hosts))) if self.sshd else set(), "workers whose sshd was asked")
        equal(NONE_LOST.findall(ended.out), [(str(self.ranks * self.walkers),) * 2], f"walkers in {ended.out[-500:]!r}")


WALKERS = tuple(f"mpi-example-worker-{index}" for index in range(5))
SSHD = (("sshdPath: /usr/sbin/sshd", "sshdPath: /usr/sbin/sshd\n    sshAuthMountPath: /root/.ssh"),)

ROWS = [
    Row("F1 MSJob, 4 Workers", "mindspore/mindspore.yaml", 4, "mindspore", ordered=False),
    Row("F1 MSJob, standalone Worker", "mindspore/standalone.yaml", 1, "mindspore"),
    Row("F2 MSJob with parameter servers", "mindspore/parameter-server.yaml", 2, alone=("mindspore/train_ps.py", "--workers", "2")),
    Row("F3 MSJob 2020, our own trainer", "mindspore-2020/all-reduce.yaml", 4),
    Row("F3 MSJob 2020, torch", "mindspore-2020/torch.yaml", 4),
    Row("F4 ChainerJob, master and 2 workers", "chainer/mpi.yaml", 3, "chainer", ordered=False,
        hosts=(("chainermn-master", 1), ("chainermn-workerset-ws0-0", 1), ("chainermn-workerset-ws0-1", 1))),
    Row("F4 ChainerJob, alone", "chainer/single.yaml", 1, "chainer"),
    Walk("F5 T9k MPIJob, 5 workers of 3 ranks", "t9k/random-walk.yaml", 15, program="random_walk", hosts=WALKERS),
    Walk("F5 T9k MPIJob, started by sshd", "t9k/random-walk.yaml", 15, program="random_walk", hosts=WALKERS, changes=SSHD, sshd=True),
    Row("F6 T9k MPIJob, Horovod", "t9k/horovod.yaml", 4, "horovod", ordered=False,
        group=("hvd", ("minMember", 5), ("priority", 50), ("queue", "default"))),
    Row("F7 PaddleJob Collective, 2 workers", "paddle/paddlepaddle.yaml", 2, "paddle"),
    Row("F7 PaddleJob Collective, 4 workers", "paddle/paddlepaddle.yaml", 4, "paddle", changes=(("replicas: 2", "replicas: 4"),)),
    Row("F7 PaddleJob Collective, through the launcher", "paddle/paddlepaddle-launch.yaml", 2, "paddle"),
    Row("F8 PaddleJob with parameter servers", "paddle/paddlepaddle-ps.yaml", 2, "paddle-ps"),
]
