"""What becomes of the blocks in the document of ChainerJob."""
import pathlib

from checks import check, contains, equal
from frameworks.rows import MAPPED
from local_support import find_all, home

HERE = pathlib.Path(__file__).resolve().parent


def training(environments):
    """Block 1, as it is written: a master and two workers; and block 3, its status."""
    python = environments.python("chainer")
    with home() as it:
        it.environment["PATH"] = f"{python.parent}:{it.environment['PATH']}"  # the manifest says python3, and pods see where we find it
        ended = it.muster("run", HERE / "chainermn.yaml", "--images", images(environments), limit=180).expect(0)
        contains(ended.err, "Succeeded  example-job-mn", "what run says")
        hosts = {(host.rpartition("-")[0], int(ranks)) for host, ranks in MAPPED.findall(ended.out)}
        equal(hosts, {("example-job-mn-master", 1), ("example-job-mn-workerset-ws0", 1)}, "ranks of each host")
        results = find_all(r"rank (\d) of 3: loss ([\d.]+) at step 1, ([\d.]+) at step 40; weights ([0-9a-f]{64})$", ended.out)
        equal(sorted(rank for rank, *_ in results), ["0", "1", "2"], f"ranks that ended in {ended.out[-2000:]!r}")
        equal(len({weights for *_, weights in results}), 1, "different weights")
        for rank, first, last, _ in results:
            check(float(last) < float(first) / 2, f"the loss of rank {rank} fell from {first} to {last} only")
        status(it.json("chainerjobs", "example-job-mn")["status"])


def status(seen):
    """Block 3: the fields of its sample with their meanings."""
    equal(seen.get("succeeded"), 1, "succeeded")
    check(seen["startTime"] <= seen["completionTime"], f"times: {seen}")
    complete = next(one for one in seen["conditions"] if one["type"] == "Complete")
    equal(complete["status"], "True", "Complete")
    for time in ("lastProbeTime", "lastTransitionTime"):
        equal(complete[time], seen["completionTime"], time)


def gpus(environments):
    """Block 2, completed: as many slots as GPUs."""
    with home() as it:
        ended = it.muster("run", HERE / "chainermn-gpu.yaml", "--images", images(environments), "--capacity", "nvidia.com/gpu=3", limit=120).expect(0)
        where = dict(find_all(r"\(rank (\d) on ([^)]+)\)", ended.out))
        equal(sorted(where), ["0", "1", "2"], f"ranks in {ended.out[-1000:]!r}")
        equal(sum(host == "example-job-mn-workerset-ws0-0" for host in where.values()), 2, f"ranks of the worker with two GPUs: {where}")


def images(environments):
    return environments.examples / "chainer/images.yaml"
