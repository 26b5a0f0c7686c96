"""A root that has glibc and an archive of ours, nothing else: no shell, no library, no /etc. Run as a program inside a mount namespace:

    unshare --mount bare_root.py FOLDER ARCHIVE UID COMMAND [ARGUMENT…] [-- COMMAND…]…

makes it on FOLDER, runs the commands there one after the other, as a user, and ends with the code of the first that fails."""
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT_OF_ARCHIVE = "usr/local"
GLIBC = ("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6")
PIVOT_ROOT = 155
MNT_DETACH = 2


def run(archive, *commands, user=0, limit=300):
    """From a test: what the commands print, and the exit code; standard error is in it."""
    words = [word for command in commands for word in ("--", *map(str, command))][1:]
    with tempfile.TemporaryDirectory(prefix="bare.") as folder:
        return subprocess.run(["unshare", "--mount", sys.executable, "-B", __file__, folder, archive, str(user), *words],
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


def fill(root, archive):
    mount("-t", "tmpfs", "-o", "mode=755", "root", root)
    unpack(archive, root)
    if str(archive).endswith(".tar.gz"):
        for path in GLIBC:
            (root / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / path.lstrip("/"))
    (root / "tmp").mkdir(mode=0o777)
    (root / "tmp").chmod(0o1777)
    for name in ("proc", "sys", "dev"):
        (root / name).mkdir()
        mount("--rbind", f"/{name}", root / name)


def enter(root):
    """Not chroot: nobody below one may make a mount namespace with a root of its own, as pods have it."""
    libc = ctypes.CDLL(None, use_errno=True)
    os.chdir(root)
    if libc.syscall(PIVOT_ROOT, b".", b".") != 0 or libc.umount2(b".", MNT_DETACH) != 0:
        sys.exit(f"entering {root}: {os.strerror(ctypes.get_errno())}")
    os.chdir("/")


def execute(words, user):
    child = os.fork()
    if child == 0:
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        try:
            os.execve(words[0], words, {"PATH": "/usr/local/bin:/usr/bin", "HOME": "/tmp/home"})
        except OSError as error:
            os.write(2, f"{words[0]}: {error}\n".encode())
            os._exit(127)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main():
    root, archive, user = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    mount("--make-rprivate", "/")
    fill(root, archive)
    enter(root)
    for command in " ".join(sys.argv[4:]).split(" -- "):
        code = execute(command.split(" "), user)
        if code != 0:
            os._exit(code if code > 0 else 128 - code)


if __name__ == "__main__":
    main()
