"""A root that has glibc and an archive of ours, nothing else: no shell, no library, no /etc. Or one of a Debian release. Run as a program inside a mount
namespace:

    unshare --mount bare_root.py JSON

makes it on `folder`, runs the commands there one after the other, as a user, and ends with the code of the first that fails."""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

import debian_roots

ROOT_OF_ARCHIVE = "usr/local"
GLIBC = ("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6")
PIVOT_ROOT = 155
MNT_DETACH = 2


def run(archive, *commands, user=0, limit=300, release=None, files=(), shown=None, environment=None, network=True):
    """From a test: what the commands print, and the exit code; standard error is in it. `release`: the root of debian_roots that is the base, glibc
    included. `files`: of this machine, put into /root, where commands are then run. `shown`: path there → file or folder of this machine that is seen
    there. `environment`: more than PATH and HOME. Without an archive there is none of ours."""
    with tempfile.TemporaryDirectory(prefix="bare.") as folder:
        wanted = {"folder": folder, "archive": archive and str(archive), "user": user, "release": release and str(release), "files": [str(file) for file in files],
                  "shown": {str(path): str(source) for path, source in (shown or {}).items()}, "environment": environment or {},
                  "commands": [[str(word) for word in command] for command in commands]}
        apart = ["--mount"] if network else ["--mount", "--net", "sh", "-ec", 'ip link set lo up; exec "$@"', "apart"]
        return subprocess.run(["unshare", *apart, sys.executable, "-B", __file__, json.dumps(wanted)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit, check=False)


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


def unpack(archive, root):
    """A .tar.gz below /usr/local, without its first folder; of another archive what it says."""
    with tarfile.open(archive) as entries:
        for entry in entries:
            if str(archive).endswith(".tar.gz"):
                entry.name = f"{ROOT_OF_ARCHIVE}/" + "/".join(entry.name.split("/")[1:])
            entries.extract(entry, root)


def show(source, target):
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount("--bind", source, target)


def fill(root, archive, release, files, shown):
    mount("-t", "tmpfs", "-o", "mode=755", "root", root)
    if release:
        debian_roots.unpack(release, root)
    if archive:
        unpack(archive, root)
    if not release and archive.endswith(".tar.gz"):
        for path in GLIBC:
            (root / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / path.lstrip("/"))
    (root / "tmp").mkdir(mode=0o777, exist_ok=True)
    (root / "tmp").chmod(0o1777)
    for file in files:
        (root / "root").mkdir(exist_ok=True)
        shutil.copy(file, root / "root")
    for name in ("proc", "sys", "dev"):
        (root / name).mkdir(exist_ok=True)
        mount("--rbind", f"/{name}", root / name)
    for path, source in shown.items():
        show(pathlib.Path(source), root / path.lstrip("/"))


def enter(root):
    """Not chroot: nobody below one may make a mount namespace with a root of its own, as pods have it."""
    libc = ctypes.CDLL(None, use_errno=True)
    os.chdir(root)
    if libc.syscall(PIVOT_ROOT, b".", b".") != 0 or libc.umount2(b".", MNT_DETACH) != 0:
        sys.exit(f"entering {root}: {os.strerror(ctypes.get_errno())}")
    os.chdir("/")


def execute(words, user, environment):
    child = os.fork()
    if child == 0:
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        try:
            os.execve(words[0], words, {"PATH": "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/tmp/home", **environment})
        except OSError as error:
            os.write(2, f"{words[0]}: {error}\n".encode())
            os._exit(127)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main():
    wanted = json.loads(sys.argv[1])
    root = pathlib.Path(wanted["folder"])
    mount("--make-rprivate", "/")
    fill(root, wanted["archive"], wanted["release"], wanted["files"], wanted["shown"])
    enter(root)
    if wanted["files"]:
        os.chdir("/root")
    for command in wanted["commands"]:
        code = execute(command, wanted["user"], wanted["environment"])
        if code != 0:
            os._exit(code if code > 0 else 128 - code)


if __name__ == "__main__":
    main()
