"""Pods of an MPI job without a cluster: namespaces and roots of their own, joined by a bridge, each with muster-agent as its first process
or whatever a test starts there. The suite itself runs in a network namespace of its own: with it everything on the network ends."""
import contextlib
import os
import pathlib
import secrets
import signal
import subprocess
import time

from checks import BIN, Failure, check, wait_until

AGENT = "/muster/bin/muster-agent"
SERVICE = "job-mpi"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# The root is a copy-on-write view of this machine, in memory; devices as in a container. The network comes when the parent says so: it
# needs this process to give it to.
START = """set -e
mount -t tmpfs pod "$POD"
cd "$POD"
mkdir upper work root
mount -t overlay pod -o lowerdir=/,upperdir=upper,workdir=work root
mount -t tmpfs pod root/tmp
mount -t tmpfs pod root/root
mount -t tmpfs pod root/dev
mkdir root/dev/shm root/dev/pts
for name in null zero full random urandom tty; do touch root/dev/$name; mount --bind /dev/$name root/dev/$name; done
mount -t devpts pod root/dev/pts -o ptmxmode=0666
ln -s pts/ptmx root/dev/ptmx
ln -s /proc/self/fd root/dev/fd
touch root/dev/termination-log
mount --bind "$MESSAGE" root/dev/termination-log
mount --bind "$HOSTS" root/etc/hosts
mkdir -p root/muster/bin root/muster/key
mount --bind "$FILES" root/mnt
"$BIN/muster-agent" install root/muster/bin
if [ -n "$KEY" ]; then printf %s "$KEY" > root/muster/key/key; chmod 400 root/muster/key/key; fi
hostname "$NAME"
mount -t proc proc root/proc
mount -t sysfs sys root/sys
read go
ip link set lo up
ip link set eth0 up
ip address add "$ADDRESS/24" dev eth0
exec chroot root /usr/bin/env -i "$@" </dev/null
"""


def output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


class Host:
    """One pod. `process` is the program in it, as the parent of everything there sees it."""

    def __init__(self, network, name, words, variables, key):
        self.network, self.name = network, name
        self.address = network.address(name)
        self.mount = network.directory / f"root-{name}"
        self.mount.mkdir(exist_ok=True)
        self.out = network.directory / f"out-{name}-{len(network.running)}"
        self.message = network.directory / f"message-{name}-{len(network.running)}"  # what the container's status would say
        self.message.touch()
        environment = {"PATH": PATH, "HOME": "/root", "WORK": "/root", "MUSTER_MPI_SERVICE": SERVICE, "OMPI_ALLOW_RUN_AS_ROOT": 1,
                       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1, "OMPI_MCA_plm_rsh_agent": "/mnt/rsh", "OMPI_MCA_orte_keep_fqdn_hostnames": "t",
                       "OMPI_MCA_btl_tcp_if_exclude": "lo", "OMPI_MCA_rmaps_base_oversubscribe": 1, **variables}
        seen = {"POD": self.mount, "HOSTS": network.hosts, "FILES": network.files, "BIN": BIN, "KEY": key or "", "NAME": name, "MESSAGE": self.message,
                "ADDRESS": self.address}
        given = [f"{one}={value}" for one, value in environment.items() if value is not None]
        with self.out.open("w") as out:
            self.process = subprocess.Popen(
                ["unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
                 "/bin/sh", "-c", START, "sh", *given, "/bin/sh", "-c", 'cd "$WORK"; exec "$@"', "sh", *words],
                env={**os.environ, **{one: str(value) for one, value in seen.items()}}, stdin=subprocess.PIPE, stdout=out,
                stderr=subprocess.STDOUT, text=True)
        network.running.append(self)
        self.first = wait_until(self.first_process, f"the first process of {name}")
        network.join(self)
        self.process.stdin.write("go\n")
        self.process.stdin.close()

    def first_process(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        if self.process.poll() is not None:
            raise Failure(f"{self.name} ended: {self.said()}")
        return int(children[0]) if children else None

    def said(self):
        return self.out.read_text(errors="replace")

    def ended(self, limit=60):
        """Exit code and all that it printed."""
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} did not end within {limit} s: {self.said()[-2000:]}") from None
        self.network.leave(self)
        return self.process.returncode, self.said()

    def wait_for(self, text, limit=60):
        def seen():
            return text in self.said() or (self.process.poll() is not None and Failure)
        if wait_until(seen, f"{text!r} in the output of {self.name}", limit) is Failure:
            check(text in self.said(), f"{self.name} ended with {self.process.returncode} without {text!r}: {self.said()}")

    def signal(self, number):
        """To the first process of the pod, from outside."""
        os.kill(self.first, number)

    def inside(self, *words, limit=60, **variables):
        """Runs a command in the pod; what `muster exec` would do."""
        wait_until(self.file(AGENT).exists, f"{self.name} to be in its root")
        entered = ["nsenter", "--target", str(self.first), "--all", "--root", "/usr/bin/env", "-C", "/root", "-i", f"PATH={PATH}", "HOME=/root",
                   f"MUSTER_MPI_SERVICE={SERVICE}", *(f"{one}={value}" for one, value in variables.items()), *words]
        return subprocess.run(entered, capture_output=True, text=True, timeout=limit, check=False, stdin=subprocess.DEVNULL)

    def file(self, path):
        return pathlib.Path(f"/proc/{self.first}/root{path}")

    def processes(self):
        """Pid → command line of everything in the pod but its first process."""
        space, found = os.readlink(f"/proc/{self.first}/ns/pid"), {}
        for path in pathlib.Path("/proc").iterdir():
            if not path.name.isdigit() or int(path.name) == self.first:
                continue
            with contextlib.suppress(OSError):
                if os.readlink(path / "ns/pid") == space and (path / "cmdline").read_bytes():
                    found[int(path.name)] = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return found

    def close(self):
        if self.process.poll() is None:
            self.process.kill()  # --kill-child: the pod's first process goes with it, and all others with that
            self.process.wait()
        self.network.leave(self)


class Network:
    """Pods that see each other by name."""

    def __init__(self, directory, names):
        self.directory, self.names = directory, names
        self.key = secrets.token_hex(32)
        self.running = []
        self.files = directory / "files"
        self.files.mkdir(parents=True)
        self.write("rsh", f'#!/bin/sh\nexec {AGENT} rsh "$@"\n').chmod(0o755)
        self.hosts = directory / "hosts"
        self.hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{self.address(name)} {name}.{SERVICE} {name}\n" for name in names))
        if subprocess.run(["ip", "link", "show", "pods"], capture_output=True, check=False).returncode != 0:
            output("ip", "link", "add", "pods", "type", "bridge")
            output("ip", "link", "set", "pods", "up")

    def address(self, name):
        return f"10.78.0.{self.names.index(name) + 1}"

    def write(self, name, text):
        """A file that every pod sees in /mnt."""
        path = self.files / name
        path.write_text(text)
        return path

    def hostfile(self, slots=1, names=None):
        self.write("hostfile", "".join(f"{name} slots={slots}\n" for name in names or self.names[1:]))
        return "/mnt/hostfile"

    def join(self, host):
        link = f"v{host.first}"
        output("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", str(host.first))
        output("ip", "link", "set", link, "master", "pods", "up")

    def leave(self, host):
        """At once: the kernel takes its time with namespaces that ended, and the next pod of that address must not meet the old one."""
        subprocess.run(["ip", "link", "delete", f"v{host.first}"], capture_output=True, check=False)

    def start(self, name, *words, key=None, **variables):
        return Host(self, name, words, variables, self.key if key is None else key)  # "": none

    def worker(self, name, *command, **more):
        return self.start(name, AGENT, "run", *(("--", *command) if command else ()), **more)

    def workers(self, **more):
        return [self.worker(name, **more) for name in self.names[1:]]

    def launch(self, *words, hostfile="/mnt/hostfile", **variables):
        """The first name is the launcher's."""
        return self.start(self.names[0], AGENT, "launch", "--hostfile", hostfile, "--", *words, **variables)

    def close(self):
        for host in reversed(self.running):
            host.close()


def settled(hosts, limit=10):
    """Waits until nothing but the agents is left in these pods."""
    def rest():
        left = {host.name: list(host.processes().values()) for host in hosts if host.process.poll() is None}
        left = {name: processes for name, processes in left.items() if processes}
        if left:
            raise Failure(str(left))
        return True
    began = time.monotonic()
    wait_until(rest, "the pods to have nothing left", limit)
    return time.monotonic() - began


def kill(host):
    """As a node that takes a pod away at once."""
    host.signal(signal.SIGKILL)
    host.process.wait(10)
    host.network.leave(host)
