"""What pods have on the host: processes, mounts, links, routes, cgroups, network namespaces, nft tables, shared memory."""
import contextlib
import glob
import os
import pathlib
import shutil
import signal
import subprocess

from checks import check, equal, wait_until


# Without root pods' links, routes and rules are in a network of their own that goes with them, and there are no cgroups.
AS_ROOT = os.geteuid() == 0


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def stable_hash(text):
    """FNV-1a, as the product derives names from a home."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


# --- processes

def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def stat_fields(pid):
    """The fields of a process's stat from its state on: its name before them may have any character. None when it is gone."""
    with contextlib.suppress(OSError):
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        return stat[stat.rindex(")") + 2:].split()
    return None


def parent_of(pid):
    fields = stat_fields(pid)
    return int(fields[1]) if fields else None


def start_time(pid):
    """Of a live process. One without a command line has ended: the machine's first process has not reaped it or its children yet."""
    words, fields = command_line(pid), stat_fields(pid)
    return fields[19] if words and fields else None


def command_line(pid):
    """The words of a process's command line, [] of one that has ended and was not reaped; None when it is gone. Behind those that a shim
    shows there are empty ones, where its nursery's were longer."""
    with contextlib.suppress(OSError):
        text = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        return text.rstrip("\0").split("\0") if text else []
    return None


def command_lines():
    """(pid, words) of every process."""
    return [(pid, words) for pid in pids() if (words := command_line(pid)) is not None]


def describe(pid):
    """What a process is, for a message."""
    words, fields = command_line(pid), stat_fields(pid)
    return "gone meanwhile" if words is None or fields is None else (" ".join(words), " ".join(fields[:8]))


def belongs(pid, words, top):
    """Whether a process runs in a pod of a home below a directory: their roots are there."""
    with contextlib.suppress(OSError):
        return str(top) in pathlib.Path(f"/proc/{pid}/mountinfo").read_text() and pid != os.getpid()
    return False


def suite_of(pid):
    """The process of tests/run below which a suite and all that it leaves behind runs; None of what no such one has started."""
    at = pid
    while at:
        if any(word.endswith("/running/reaper.py") for word in command_line(at) or ()):
            return at
        at = parent_of(at)
        if at is None and stat_fields(pid):  # one above it ended just now: it has another parent
            at = pid
    return None


def namespaces(kind):
    """Namespace → a live process in it: one that was not reaped has its user namespace still. Those of other suites do not count: the kernel
    gives the number of a namespace that is gone to the next one."""
    ours, found = {None, suite_of(os.getpid())}, {}
    for pid in (pid for pid in pids() if command_line(pid)):
        with contextlib.suppress(OSError):
            name = os.readlink(f"/proc/{pid}/ns/{kind}")
            if name not in found and suite_of(pid) in ours:
                found[name] = pid
    return found


def own_tables():
    """The machine's nft tables, which only root may list."""
    return set(output("nft", "list", "tables").splitlines()) if AS_ROOT else set()


# --- one home

class Traces:
    """What the pods of one home have on the machine. The home is in a directory of the test's own, from which they may mount, too."""

    def __init__(self, home):
        self.home = pathlib.Path(home)
        self.top = self.home.parent
        self.key = f"{stable_hash(str(home)) & 0xFFFFFFFF:08x}"
        self.bridge = f"muster{self.key}"
        self.memory = [pathlib.Path(f"/dev/shm/muster-{what}-{self.key}") for what in ("node", "pods")]

    def shims(self):
        """pid → directory of the pods' shims; a pod's first process is a fork of its shim and none."""
        found = {pid: words[1] for pid, words in command_lines() if len(words) == 2 and words[1].startswith(f"{self.memory[1]}/")}
        return {pid: directory for pid, directory in found.items() if parent_of(pid) not in found}

    def pod_processes(self, uid):
        """pid → command line of all processes of a pod but its shim's."""
        shims = {pid for pid, directory in self.shims().items() if directory.endswith("/" + uid)}
        lines = dict(command_lines())
        parents = {pid: parent_of(pid) for pid in lines}

        def below(pid):
            while pid in parents:
                pid = parents[pid]
                if pid in shims:
                    return True
            return False

        return {pid: words for pid, words in lines.items() if words and below(pid)}

    def pid_of(self, pod, program):
        """The host's pid of a program in a pod's container."""
        def found():
            for pid, words in self.pod_processes(pod["metadata"]["uid"]).items():
                if pathlib.Path(words[0]).name == program and not words[0].endswith("muster-shim"):
                    return pid
            return None
        return wait_until(found, f"{program} of {pod['metadata']['name']}")

    def leftovers(self):
        """Everything, by sort; a sort of which there is nothing is not there."""
        shims = self.shims()
        return {sort: found for sort, found in {
            "processes": [f"{pid} {' '.join(words)}" for pid, words in command_lines() if belongs(pid, words, self.top) or pid in shims],
            "mounts": [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if str(self.top) in line],
            "links": self.links(),
            "routes": self.routes(),
            "cgroups": self.cgroups(),
            "shared memory": self.shared_memory(),
            "memory directories": [str(path) for path in self.memory if path.exists()],
            "pod directories": [str(path) for path in (self.home / "pods").glob("*")],
        }.items() if found}

    def links(self):
        # The host's ends of pods' links are in the bridge; one that lost it would be in nobody's.
        return [line for line in output("ip", "-o", "link").splitlines() if self.bridge in line]

    def routes(self):
        metric = 0x4D000000 | stable_hash(self.key) & 0xFFFFFF
        return [line for line in output("ip", "route").splitlines() if self.bridge in line or f"metric {metric}" in line]

    def cgroups(self):
        return [str(path) for pattern in (f"muster/{self.key}*", f"*/muster/{self.key}*") for path in pathlib.Path("/sys/fs/cgroup").glob(pattern)]

    def shared_memory(self):
        return [str(path) for path in pathlib.Path("/dev/shm").glob(f"muster-{self.key}-*")]

    def clear(self):
        """Takes it from the machine by force, when nobody is left to ask: pods outlive the program that started them."""
        for pid in self.shims():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: "processes" not in self.leftovers(), f"the processes of {self.home} to end")
        if self.links():
            subprocess.run(["ip", "link", "delete", self.bridge], check=False)
        for line in self.routes():
            subprocess.run(["ip", "route", "delete", *line.split()], check=False)
        for root in self.cgroups():
            for group in sorted(glob.glob(f"{root}/**/", recursive=True), key=len, reverse=True):
                with contextlib.suppress(OSError):
                    os.rmdir(group)
        for directory in [*self.shared_memory(), *self.memory]:
            shutil.rmtree(directory, ignore_errors=True)


class Machine:
    """What a home's pods have on the machine while they run, to be looked for afterwards."""

    def __init__(self, traces):
        self.traces = traces
        self.tables = own_tables()
        self.namespaces = {}
        self.users = set()
        self.processes = {}

    def see_running(self, pods):
        """Remembers the namespaces and processes of so many pods, and that there are links, cgroups and a bridge."""
        def all_there():
            shims = self.traces.shims()
            inside = [set(self.traces.pod_processes(pathlib.Path(directory).name)) for directory in shims.values()]
            complete = len(shims) == pods and all(len(processes) >= 2 for processes in inside)  # the first, and a rank
            return (set(shims), set().union(*inside)) if complete else None
        shims, inside = wait_until(all_there, f"{pods} pods")
        own = os.readlink("/proc/self/ns/net")
        for pid in inside:
            with contextlib.suppress(OSError):  # ended meanwhile
                namespace = os.readlink(f"/proc/{pid}/ns/net")
                if namespace != own:
                    self.namespaces[namespace] = pid
                self.processes[pid] = start_time(pid)
        for pid in shims:
            self.processes[pid] = start_time(pid)
            with contextlib.suppress(OSError):
                self.users.add(os.readlink(f"/proc/{pid}/ns/user"))
        self.users.discard(os.readlink("/proc/self/ns/user"))
        check(AS_ROOT or len(self.users) == 1, f"user namespaces of the pods: {self.users}")
        check(len(self.namespaces) == pods, f"{len(self.namespaces)} network namespaces of {pods} pods")
        seen = self.traces.leftovers()
        everywhere = ("processes", "shared memory", "pod directories")
        for sort in (*everywhere, "links", "routes", "cgroups") if AS_ROOT else everywhere:
            check(seen.get(sort), f"running pods have no {sort}: this test sees nothing")

    def check_clean(self, allowed=()):
        """Nothing of what was seen is left, nor anything else of the home."""
        left = {sort: what for sort, what in self.traces.leftovers().items() if sort not in allowed}
        check(not left, f"left: {left}")
        still = {pid for pid, begun in self.processes.items() if begun and start_time(pid) == begun}
        check(not still, lambda: f"processes left: {[(pid, describe(pid)) for pid in still]}")
        networks = set(namespaces("net")) & set(self.namespaces)
        check(not networks, f"network namespaces left: {networks}")
        if "links" not in allowed:
            check(not set(namespaces("user")) & self.users, f"user namespaces left: {self.users}")
        tables = {line for line in own_tables() - self.tables if "muster" in line}
        check(not tables, f"nft tables left on the host: {tables}")

    def check_pods_gone(self):
        """The same while the control plane or the node runs: what is its own stays, and nothing in it."""
        self.check_clean(allowed=("links", "routes", "cgroups", "memory directories"))
        equal([str(path) for place in self.traces.memory for path in place.glob("*/*")], [], "secrets and memory volumes of pods")
        # The kernel takes a link away with its namespace, a little after the last process in it.
        wait_until(lambda: all(f": {self.traces.bridge}:" in link for link in self.traces.links()), "the links of pods to go")
        equal([path for root in self.traces.cgroups() for path in pathlib.Path(root).glob("*/")], [], "cgroups of pods")
