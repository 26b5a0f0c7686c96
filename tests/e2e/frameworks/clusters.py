"""The two clusters behind one door: `muster run MANIFEST`, and what the job printed."""
import contextlib
import os
import subprocess

from checks import BIN, ROOT, Failure
from kube_support import Kube
from local_support import Ended, home

# Of one job. The slowest takes 40 s on two idle cores; whatever hangs ends here.
JOB_LIMIT = 240


class Cluster:
    """Where a row runs. `directory` is for its manifest; `groups` gives the PodGroups that were ever created, where somebody counts them."""

    def __init__(self, directory, flags, environment, groups=None):
        self.directory, self.flags, self.environment, self.groups = directory, flags, environment, groups

    def muster(self, verb, *words, limit):
        command = [BIN / "muster", verb, *words, *self.flags]
        try:
            done = subprocess.run(command, cwd=ROOT, env=self.environment, text=True, errors="replace", capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=limit, check=False)
        except subprocess.TimeoutExpired as late:
            raise Failure(f"muster {verb} did not end within {limit} s; the end of what it said:\n{tail(late.stdout)}\n{tail(late.stderr)}") from None
        return Ended(done.returncode, done.stdout, done.stderr)

    def run(self, manifest):
        """Runs a job to its end and removes it."""
        path = self.directory / "job.yaml"
        path.write_text(manifest)
        try:
            return self.muster("run", path, limit=JOB_LIMIT)
        finally:
            self.muster("delete", "-f", path, limit=60)


def images_flags(files):
    """What the images of the examples are on this machine."""
    return [word for file in files for word in ("--images", file)]


def tail(output):
    text = output.decode(errors="replace") if isinstance(output, bytes) else output or ""
    return text[-1500:]


@contextlib.contextmanager
def embedded(_suite, images):
    with home() as it:
        it.up(*images_flags(images))
        yield Cluster(it.files, ["--home", it.path], it.environment)


@contextlib.contextmanager
def kubernetes(suite, images):
    """A real API server with all its companions, the operator with the rights of deploy/, and a node on this machine."""
    kube = Kube(suite, "--with-controller-manager", "--with-scheduler", "--scheduler-profile", "t9k-scheduler",
                "--audit", "--audit-bodies", "podgroups.scheduler.tensorstack.dev")
    kube.install(more=["tests/kubernetes/t9k-podgroup.yaml"])
    kube.node("main", *images_flags(images))
    kube.operator()
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}

    def groups():
        return [record["responseObject"] for record in kube.audit() if record["verb"] == "create" and record["objectRef"]["resource"] == "podgroups"]

    yield Cluster(suite.directory, ["--kubeconfig", kube.env["KUBECONFIG"]], environment, groups)
