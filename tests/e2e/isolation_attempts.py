"""What a program inside a pod tries against its machine. Run in the pod; $MUSTER_FACTS says what there is to be found.

Prints a line for each attempt: "refused NAME (why)" or "REACHED NAME: what". Attempts are harmless where they succeed.
An attempt is refused when the kernel says so in one of the words of KERNEL_SAYS_NO, or when nothing of the host is to be seen;
any other error is a mistake of the attempt and told as REACHED.
"""
import ctypes
import errno
import json
import os
import pathlib
import platform
import socket
import struct
import sys
import time

FACTS = json.loads(os.environ["MUSTER_FACTS"])
HOME = FACTS["home"]
LIBC = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
# Names of system calls to their numbers on x86-64 and on arm64.
CALLS = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "capset": (126, 91), "clock_settime": (227, 112), "delete_module": (176, 106),
    "finit_module": (313, 273), "fsopen": (430, 430), "init_module": (175, 105), "io_uring_setup": (425, 425), "ioperm": (173, None),
    "iopl": (172, None), "kexec_load": (246, 104), "keyctl": (250, 219), "mknodat": (259, 33), "mount": (165, 40), "mount_setattr": (442, 442),
    "mq_open": (240, 180), "msgget": (68, 186), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_open": (434, 434), "pivot_root": (155, 41), "process_vm_readv": (310, 270),
    "ptrace": (101, 117), "quotactl": (179, 60), "reboot": (169, 142), "request_key": (249, 218), "semget": (64, 190), "setdomainname": (171, 162),
    "sethostname": (170, 161), "setns": (308, 268), "settimeofday": (164, 170), "shmget": (29, 194), "swapoff": (168, 225), "swapon": (167, 224),
    "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282), "vhangup": (153, 58),
}
KERNEL_SAYS_NO = {errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOENT, errno.ESRCH, errno.ECONNREFUSED, errno.ENOKEY, errno.ENODEV,
                  errno.ENOSYS}
ATTEMPTS = []
FILTERED = pathlib.Path("/proc/self/status").read_text().find("Seccomp:\t2") > 0


def attempt(function=None, *, only_filtered=False):
    """`only_filtered`: what kernels leave to every user unless a seccomp profile refuses it."""
    def register(body):
        if FILTERED or not only_filtered:
            ATTEMPTS.append(body)
        return body
    return register(function) if function else register


def call(name, *arguments):
    number = CALLS[name][ARM]
    if number is None:
        raise PermissionError(errno.EPERM, "no such call here")
    result = LIBC.syscall(number, *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return f"{name} gave {result}"


def calls(name, *arguments, **flags):
    """The attempt that consists of one system call."""
    def body():
        return call(name, *arguments)
    body.__name__ = f"system call {name}{flags.pop('but', '')}"
    attempt(**flags)(body)


def opens(path, flags=os.O_WRONLY):
    def body():
        os.close(os.open(path, flags))
        return "opened"
    body.__name__ = f"{'write' if flags & os.O_ACCMODE else 'read'} {path}"
    attempt(body)


def finds(path, what):
    def body():
        return pathlib.Path(path).read_bytes()[:40]
    body.__name__ = what
    attempt(body)


def connects(address, what, family=socket.AF_UNIX):
    def body():
        with socket.socket(family, socket.SOCK_STREAM) as peer:
            peer.connect(address)
            return "connected"
    body.__name__ = what
    attempt(body)


def nothing_of(found, what):
    return f"{what}: {found[:5]}" if found else None


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


# --- files of the host and of other pods

finds(f"{HOME}/store.db", "the store")
finds(f"{HOME}/kubeconfig", "the owner's token")
finds(f"{HOME}/api-credentials", "the keys that sign tokens")
connects(f"{HOME}/muster.sock", "the API's socket")
finds(FACTS["victim_layer"] + "/victim-file", "a file that another pod wrote")
finds(FACTS["victim_volume"], "a volume of another pod")
finds(FACTS["victim_secret"], "a secret of another pod")
finds(FACTS["host_tmp"], "the host's /tmp")
calls("umount2", HOME.encode(), 2, but=" of what hides the home")


@attempt
def the_home_is_empty():
    return nothing_of(os.listdir(HOME) if os.path.isdir(HOME) else [], "it holds")


@attempt
def host_root_through_processes():
    seen = []
    for pid in processes():
        for link in ("root", "cwd"):
            top = f"/proc/{pid}/{link}"
            for path in (f"{top}{HOME}/store.db", f"{top}/../../../../../..{HOME}/store.db"):
                seen += [path] if os.path.exists(path) else []
    return nothing_of(seen, "the store at")


@attempt
def host_root_through_the_first_process():
    return nothing_of([name for name in os.listdir("/proc/1/root/") if name in ("etc", "usr", "home")], "it has")


@attempt
def descriptors_that_were_left_open():
    seen = []
    for fd in os.listdir("/proc/self/fd"):
        target = os.readlink(f"/proc/self/fd/{fd}") if os.path.lexists(f"/proc/self/fd/{fd}") else ""
        seen += [target] if int(fd) > 2 and target and "/proc/" not in target else []
    return nothing_of(seen, "they lead to")


@attempt
def shared_memory_of_others():
    return nothing_of([name for name in os.listdir("/dev/shm") if name.startswith("muster")], "/dev/shm has")


@attempt
def files_by_handle():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    if LIBC.syscall(CALLS["name_to_handle_at"][ARM], -100, b"/etc", handle, ctypes.byref(mount), 0) < 0:
        handle = ctypes.create_string_buffer(struct.pack("IiQ", 8, 1, 2) + bytes(128))
    root = os.open("/etc", os.O_RDONLY)
    try:
        return call("open_by_handle_at", root, handle, os.O_RDONLY)
    finally:
        os.close(root)


@attempt
def the_program_that_started_us():
    """A pod that could write it would be whoever starts the next pod."""
    with open("/proc/1/exe", "r+b"):
        return "writable"


# --- processes and memory of others

HOST_PID = FACTS["host_pid"]
calls("pidfd_open", HOST_PID, 0, but=" of a process of the host")
calls("ptrace", 16, 1, None, None, but=" of the pod's first process")
calls("ptrace", 16, HOST_PID, None, None, but=" of a process of the host")
opens("/proc/1/mem", os.O_RDWR)
opens("/proc/1/environ", os.O_RDONLY)
opens(f"/proc/{HOST_PID}/mem", os.O_RDWR)


@attempt
def signals_to_the_host():
    os.kill(HOST_PID, 0)
    return "it could be signalled"


@attempt
def memory_of_the_host():
    buffer = ctypes.create_string_buffer(8)
    vector = struct.pack("PN", ctypes.addressof(buffer), 8)
    return call("process_vm_readv", HOST_PID, vector, 1, vector, 1, 0)


@attempt
def processes_of_others():
    own = [pid for pid in processes() if pid > 1]
    seen = [pid for pid in own if FACTS["token"] in pathlib.Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
            and pid != os.getpid()]
    return nothing_of(seen, "another pod's")


@attempt
def namespaces_of_the_first_process():
    for kind in ("mnt", "net", "ipc", "pid", "cgroup"):
        with open(f"/proc/1/ns/{kind}") as there:
            call("setns", there.fileno(), 0)
    return "entered"


# --- IPC

calls("shmget", FACTS["ipc_key"], 0, 0, but=" of the host's")
calls("msgget", FACTS["ipc_key"], 0, but=" of the host's")
calls("semget", FACTS["ipc_key"], 0, 0, but=" of the host's")
calls("shmget", FACTS["victim_ipc_key"], 0, 0, but=" of another pod's")
calls("mq_open", FACTS["queue"].encode(), os.O_RDONLY, 0, None, but=" of the host's")
connects("\0" + FACTS["abstract_socket"], "an abstract socket of the host")
connects(FACTS["path_socket"], "a socket of the host on its root file system")
connects(FACTS["run_socket"], "a socket of the host in /run")
connects(("127.0.0.1", FACTS["port"]), "a port of the host's loopback", socket.AF_INET)


@attempt
def keys_of_the_session():
    return call("request_key", b"user", FACTS["key"].encode(), None, 0)


# --- devices

for device in ("mem", "kmsg", "port", "kvm", "fuse", "loop-control", "loop0", "vda", "sda", "nvme0n1", "nvidia0", "nvidiactl", "vfio/vfio",
               "mapper/control", "userfaultfd", "vsock"):
    opens(f"/dev/{device}", os.O_RDONLY)
opens(FACTS["device_on_volume"], os.O_RDWR)


@attempt
def devices_beyond_the_usual():
    usual = {"core", "fd", "full", "mqueue", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "termination-log", "tty",
             "urandom", "zero"}
    return nothing_of(sorted(set(os.listdir("/dev")) - usual), "/dev has")


def makes_node(kind, major, minor, where, what):
    def body():
        os.mknod(where, kind | 0o666, os.makedev(major, minor))
        os.close(os.open(where, os.O_RDONLY))
        return "made and opened"
    body.__name__ = f"mknod of {what} in {os.path.dirname(where)}"
    attempt(body)


for directory in ("/tmp", "/dev/shm", FACTS["volume"]):
    makes_node(0o060000, 254, 0, f"{directory}/disk-{os.getpid()}", "a disk")
    makes_node(0o020000, 1, 1, f"{directory}/mem-{os.getpid()}", "/dev/mem")


# --- the kernel's files

for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches",
             "/proc/sys/vm/overcommit_memory", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/kernel/shmmax", "/proc/sysrq-trigger",
             "/proc/irq/default_smp_affinity", "/sys/kernel/uevent_helper", "/sys/kernel/mm/transparent_hugepage/enabled",
             "/sys/power/state", "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/cgroup.procs",
             "/sys/fs/cgroup/memory/tasks", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory.max"):
    opens(path)


@attempt
def masked_files():
    seen = []
    for path in ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/interrupts", "/proc/latency_stats", "/proc/sched_debug"):
        if os.path.exists(path):
            with open(path, "rb") as file:
                seen += [path] if file.read(8) else []
    for path in ("/proc/acpi", "/proc/scsi", "/proc/asound", "/sys/firmware", "/sys/devices/virtual/powercap"):
        if os.path.isdir(path):
            seen += [path] if os.listdir(path) else []
    return nothing_of(seen, "something is in")


@attempt
def cgroups_of_others():
    seen = [line for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines() if "muster" in line]
    for top, directories, _ in os.walk("/sys/fs/cgroup"):
        seen += [f"{top}/{name}" for name in directories if "muster" in name or FACTS["victim_uid"] in name]
    return nothing_of(seen, "they are")


@attempt
def out_of_reach_of_the_oom_killer():
    pathlib.Path("/proc/self/oom_score_adj").write_text("-1000")
    return "written"


# --- calls over the machine

calls("mount", b"none", b"/mnt", b"tmpfs", 0, None)
calls("mount", b"none", b"/mnt", b"cgroup", 0, b"memory", but=" of cgroups")
calls("mount", b"/proc/sys", b"/proc/sys", None, 4096 | 32, None, but=" of /proc/sys, writable")
calls("mount", None, b"/sys", None, 32, None, but=" of /sys, writable")
calls("umount2", b"/proc/sys", 2, but=" of /proc/sys")
calls("open_tree", -100, b"/", 1)
calls("fsopen", b"tmpfs", 0)
calls("mount_setattr", -100, b"/proc/sys", 0, struct.pack("QQQQ", 0, 1, 0, 0), 32)
calls("pivot_root", b"/", b"/")
calls("unshare", 0x20000, but=" of mounts")
calls("unshare", 0x40000000, but=" of the network")
calls("reboot", 0xFEE1DEAD - (1 << 32), 672274793, 0, None)
calls("settimeofday", struct.pack("qq", int(time.time()), 0), None)
calls("clock_settime", 0, struct.pack("qq", int(time.time()), 0))
calls("init_module", b"x", 1, b"")
calls("finit_module", 0, b"", 0)
calls("delete_module", b"muster_no_such_module", 0x800)
calls("kexec_load", 0, 0, None, 0)
calls("swapon", b"/etc/hostname", 0)
calls("swapoff", b"/etc/hostname")
calls("acct", b"/etc/hostname")
calls("iopl", 3)
calls("ioperm", 0x80, 1, 1)
calls("vhangup")
calls("quotactl", 0x800002 << 8, b"/dev/vda", 0, b"/etc/hostname")
calls("sethostname", b"mine", 4)
calls("setdomainname", b"mine", 4)


@attempt
def all_capabilities():
    header = struct.pack("Ii", 0x20080522, 0)
    return call("capset", header, struct.pack("IIIIII", *([0xFFFFFFFF] * 2 + [0]) * 2))


@attempt
def a_network_card():
    import fcntl
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0) + bytes(24))  # SIOCSIFFLAGS: down
    return "changed"


@attempt
def priority_over_others():
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    return "taken"


# --- what only a profile refuses

calls("unshare", 0x10000000, but=" of users", only_filtered=True)
calls("unshare", 0x10020000, but=" of users and mounts", only_filtered=True)
calls("bpf", 0, None, 0, only_filtered=True)
calls("perf_event_open", None, 0, -1, -1, 0, only_filtered=True)
calls("userfaultfd", 1, only_filtered=True)
calls("keyctl", 0, -4, 0, only_filtered=True)
calls("add_key", b"user", b"muster-isolation", b"x", 1, -4, only_filtered=True)
calls("syslog", 3, ctypes.create_string_buffer(64), 64, only_filtered=True)
calls("io_uring_setup", 1, ctypes.create_string_buffer(120), only_filtered=True)
calls("personality", 0x0040000, but=" without random addresses", only_filtered=True)
calls("personality", 0x80040000, but=" without random addresses, with another bit", only_filtered=True)


def main():
    for body in ATTEMPTS:
        name = body.__name__.replace("_", " ") if "/" not in body.__name__ else body.__name__
        try:
            seen = body()
            print(f"REACHED {name}: {seen}" if seen is not None else f"refused {name} (nothing there)")
        except OSError as error:
            refused = error.errno in KERNEL_SAYS_NO
            print(f"{'refused' if refused else 'REACHED'} {name} ({errno.errorcode.get(error.errno)})")
    print(f"attempts {len(ATTEMPTS)} uid {os.getuid()} filtered {FILTERED}")
    sys.stdout.flush()


main()
