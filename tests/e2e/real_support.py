"""What the real-*.suite programs share: a real node with a real container runtime around the control plane, and images of what was
built. A suite runs in a room of its own (tests/kubernetes/room.py), so nothing of it is on the machine outside."""
import os
import pathlib
import re
import subprocess
import sys

from checks import BIN, ROOT, check, equal
from kube_support import Kube, KubeSuite
from machine import command_lines
from manifests import role

sys.path.insert(0, str(ROOT / "tests/kubernetes"))
import room  # noqa: E402
from oci_image import write_image  # noqa: E402
from real_node import CLUSTER_OPTIONS, RealNode  # noqa: E402

VERSION = re.search(r'kVersion = "(.*)"', (ROOT / "src/base/version.h").read_text())[1]
OPERATOR_IMAGE = f"muster.dev/muster:{VERSION}"
TRAINER_IMAGE = f"muster.dev/muster-trainer:{VERSION}"
TOOLS_IMAGE = "muster.test/tools:1"  # a shell and a few programs, for what a trainer does not do
SHIPPED = ROOT / "build/test-package"
NEXT_IMAGE = "muster.dev/muster:next"  # the operator once more, for upgrades
SYSTEM = "/api/v1/namespaces/muster-system"
OPERATORS = SYSTEM + "/pods?labelSelector=app.kubernetes.io/name%3Dmuster-operator"


def real_suite(body):
    """Runs a suite's `body(suite)` in a room; says so and passes where there can be none."""
    lacking = room.missing()
    if lacking:
        print(f"note: no real node here: {lacking}\n0 passed, 0 failed, 1 skipped")
        return
    if room.INSIDE not in os.environ:  # where packages of the machine, which the bill of materials names, can still be seen
        package()
    room.enter()
    with KubeSuite() as suite:
        body(suite)


def package():
    made = subprocess.run([ROOT / "deploy/package/build", BIN, SHIPPED], text=True, capture_output=True, check=False)
    if made.returncode != 0:
        sys.exit(f"{made.stdout}{made.stderr}0 passed, 1 failed, 0 skipped")


def archives(directory):
    """The image archives as they are shipped, and the tools."""
    tools = directory / "tools.tar"
    write_image(tools, TOOLS_IMAGE, {"/bin/sh": "/bin/dash", **{f"/bin/{name}": f"/bin/{name}" for name in ("sleep", "cat", "ls")}})
    return [SHIPPED / f"muster-operator-{VERSION}.oci.tar", SHIPPED / f"muster-trainer-{VERSION}.oci.tar", tools]


class RealKube(Kube):
    """A control plane with a real node; `real` is that node."""

    def __init__(self, suite, *options):
        super().__init__(suite, *CLUSTER_OPTIONS, *options)
        self.real = suite.stack.enter_context(RealNode(self.directory, archives(suite.directory)))
        for text in ("deploy/operator.yaml", "examples/mindspore/kubernetes.yaml"):  # what they name is what is shipped
            names = set(re.findall(r"image: (\S+)", (ROOT / text).read_text()))
            check(names <= {OPERATOR_IMAGE, TRAINER_IMAGE}, f"{text} names {names}")
        self.real.images("tag", OPERATOR_IMAGE, NEXT_IMAGE)

    def install_operator(self):
        """As an administrator does it; returns when both replicas are Ready."""
        applied = self.kubectl("apply", "--server-side", "-f", ROOT / "deploy/install.yaml")
        self.rolled_out()
        return applied.stdout

    def rolled_out(self, seconds=60):
        self.kubectl("-n", "muster-system", "rollout", "status", "deployment/muster-operator", f"--timeout={seconds}s")

    def operators(self):
        """The operator's pods that are not on their way out."""
        return [pod for pod in self.items(OPERATORS) if not pod["metadata"].get("deletionTimestamp")]

    def leader(self):
        """The name of the pod that holds the lease."""
        code, lease = self.request("GET", "/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/muster-operator")
        held = lease.get("spec", {}).get("holderIdentity", "") if code == 200 else ""
        return next((name for pod in self.operators() if (name := pod["metadata"]["name"]) in held), None)

    def process_of(self, name):
        """The operator's process in a pod: its control group has the pod's uid."""
        uid = next(pod["metadata"]["uid"] for pod in self.operators() if pod["metadata"]["name"] == name)
        found = [pid for pid, words in command_lines() if words[1:2] == ["operator"] and uid in pathlib.Path(f"/proc/{pid}/cgroup").read_text()]
        equal(len(found), 1, f"processes of {name}")
        return found[0]

    def shell(self, command, seconds=180):
        """A line as the admin types it in the root of the repository, with kubectl and muster at hand; both outputs together."""
        path = f"{pathlib.Path(self.env['KUBECTL']).parent}:{BIN}:{os.environ['PATH']}"
        return subprocess.run(["bash", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=seconds, check=False, env={**os.environ, **self.env, "PATH": path})

    def muster(self, *words, seconds=90, good=True):
        """`muster` as the admin outside of pods; its completed process."""
        done = subprocess.run([BIN / "muster", *words, "--kubeconfig", self.env["KUBECONFIG"]], cwd=ROOT, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=seconds, check=False)
        check(done.returncode == 0 or not good, lambda: f"muster {words[0]}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
        return done


def tools_role(command, replicas=1, restart="Never", image=TOOLS_IMAGE, **more):
    """A role whose ranks run a command of the shell in real containers."""
    return role(command, replicas, restart, image=image, **more)
