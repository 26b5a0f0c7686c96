"""A room of its own for a real node: namespaces and control groups in which all of its processes, mounts and links live, and with
which they end. No device leads out of its network, so no packet can leave it.

A program calls `enter`: outside it runs itself again inside and ends with that one's exit code; inside it goes on.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from host import Failure, run_tool, start_time

HERE = pathlib.Path(__file__).resolve().parent
ADDRESS = "10.250.0.1"  # of the node, on the loopback device: a kubelet takes no 127.0.0.1
NAME = "node-1"
INSIDE = "MUSTER_ROOM"  # names the room's folder to the program inside
GROUPS = pathlib.Path("/sys/fs/cgroup")
# What a kubelet sets for the whole machine unless it reads it: it is shown these.
KERNEL = {"vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10, "kernel/panic_on_oops": 1,
          "kernel/keys/root_maxkeys": 1000000, "kernel/keys/root_maxbytes": 25000000}


def missing():
    """What this machine lacks for a room, or nothing."""
    if os.geteuid() != 0:
        return "it takes root"
    if not (GROUPS / "memory").is_dir():
        return "it was written for control groups of version 1, one folder a controller, and there are none"
    return ""


def enter():
    """Outside: runs this program in a new room, and ends. Inside: furnishes it and returns its folder."""
    if INSIDE in os.environ:
        directory = pathlib.Path(os.environ[INSIDE])
        furnish(directory)
        return directory
    sys.stdout.flush()
    sys.exit(run([sys.executable, "-B", *sys.argv]))


# ---- outside


def run(command):
    """Runs a command in a new room, ends whatever it leaves there and returns its exit code."""
    run_tool(str(HERE / "node-packages"))  # out here, where there are package lists
    clear_abandoned()
    name = f"muster-room.{os.getpid()}"
    directory = pathlib.Path("/tmp") / name
    groups = [hierarchy / path.lstrip("/") / name for hierarchy, path in hierarchies()]
    ended_by = []
    handlers = {number: signal.signal(number, lambda number, _: ended_by.append(number) or child.kill())
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    # The first process inside has to reap what others leave there; a shell does. It is killed with `unshare`, and that with us.
    child = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "--pid", "--ipc", "--uts", "--cgroup",
                              "--fork", "--kill-child=SIGKILL", "--mount-proc", "--propagation", "private",
                              "bash", "-c", '"$@"; exit $?', "room", *map(str, command)],
                             env={**os.environ, INSIDE: str(directory)}, stdin=subprocess.DEVNULL,
                             preexec_fn=lambda: prepare(directory, groups))
    try:
        code = child.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        child.wait()
        remove(groups, directory)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return 128 + ended_by[0] if ended_by else code


def hierarchies():
    """(mount point, our group in it) of every hierarchy of version 1."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        number, controllers, path = line.split(":", 2)
        if number != "0":
            yield GROUPS / controllers.removeprefix("name="), path


def prepare(directory, groups):
    directory.mkdir()
    for group in groups:
        group.mkdir()
        if "cpuset" in group.parts[4]:  # empty in a new group, and then nobody may join
            for file in ("cpuset.cpus", "cpuset.mems"):
                (group / file).write_text((group.parent / file).read_text())
        (group / "cgroup.procs").write_text(str(os.getpid()))


def remove(groups, directory):
    """The room's processes have been killed; groups go once the last of them has ended."""
    latest = time.monotonic() + 10
    for group in groups:
        while group.exists():
            for below, _, _ in os.walk(group, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(below)
            if time.monotonic() > latest:
                raise Failure(f"{group} still holds processes: {(group / 'cgroup.procs').read_text().split()}")
            time.sleep(0.01)
    shutil.rmtree(directory, ignore_errors=True)


def clear_abandoned():
    """Removes what rooms left whose program was killed: their processes ended with it."""
    for directory in pathlib.Path("/tmp").glob("muster-room.*"):
        if start_time(int(directory.suffix[1:])) is None:
            remove([hierarchy / path.lstrip("/") / directory.name for hierarchy, path in hierarchies()], directory)


# ---- inside


def furnish(directory):
    os.umask(0o022)  # images and configuration are read by users of containers
    mount_groups()
    for name, path in (("var", "/var"), ("example", "/tmp/muster-example")):  # hostPath volumes of the examples are the room's own
        (directory / name).mkdir()
        pathlib.Path(path).mkdir(exist_ok=True)
        run_tool("mount", "--bind", str(directory / name), path)
    run_tool("mount", "-t", "tmpfs", "room", "/run")
    show(directory, "resolv.conf", f"nameserver {ADDRESS}\n", os.path.realpath("/etc/resolv.conf"))
    for name, value in KERNEL.items():
        show(directory, name.replace("/", "."), f"{value}\n", f"/proc/sys/{name}")
    run_tool("hostname", NAME)
    run_tool("ip", "link", "set", "lo", "up")
    run_tool("ip", "address", "add", f"{ADDRESS}/32", "dev", "lo")
    pathlib.Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def mount_groups():
    """Every hierarchy again, now that the room's group is the root of each. A container runtime needs the named one too."""
    found = [mount_point.name for mount_point, _ in hierarchies()]
    run_tool("umount", "--recursive", str(GROUPS))
    run_tool("mount", "-t", "tmpfs", "-o", "mode=755", "groups", str(GROUPS))
    for name in found:
        (GROUPS / name).mkdir()
        options = "none,name=systemd" if name == "systemd" else name
        run_tool("mount", "-t", "cgroup", "-o", options, "cgroup", str(GROUPS / name))


def show(directory, name, text, path):
    """A file of the room's at a path of the machine."""
    (directory / name).write_text(text)
    run_tool("mount", "--bind", str(directory / name), path)
