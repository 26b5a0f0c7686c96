"""A root of a test's own: the machine as it is, and directories at paths that it does not have. In a mount namespace that goes with its process."""
import os
import pathlib
import subprocess
import sys
import tempfile

from checks import Failure, check


def run_inside(file, name, *arguments, limit=300):
    """Runs a function of a suite in a mount namespace of its own; `main_inside` of that suite finds it."""
    done = subprocess.run(["unshare", "--mount", sys.executable, file, "--inside", name, *map(str, arguments)],
                          capture_output=True, text=True, timeout=limit)
    check(done.returncode == 0, f"{name}: {done.stdout[-3000:]}{done.stderr[-3000:]}")


def main_inside(functions):
    """The other side: true when this process is one, and the function has run."""
    if sys.argv[1:2] != ["--inside"]:
        return False
    try:
        functions[sys.argv[2]](*sys.argv[3:])
    except Failure as failure:
        sys.exit(f"{failure}")
    return True


def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True)


def enter(top, directories):
    """Makes the root of this process one that has these, path → directory that is shown there; it is put together below `top`."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="root.", dir=top))
    mount("-t", "tmpfs", "-o", "mode=755", "root", top)
    show(pathlib.Path("/"), top, {tuple(path.strip("/").split("/")): source for path, source in directories.items()})
    # Not chroot: nobody below one may make a mount namespace with a root of its own, as pods have it.
    (top / "old").mkdir()
    subprocess.run(["pivot_root", top, top / "old"], check=True)
    os.chdir("/")
    subprocess.run(["umount", "--lazy", "/old"], check=True)


def show(real, shown, wanted):
    """`real` appears at `shown`, its entries bound, but for the ways to what is wanted, which are made."""
    ways = {way[0] for way in wanted}
    for name in ways:
        (shown / name).mkdir(exist_ok=True)
        below = {way[1:]: source for way, source in wanted.items() if way[0] == name}
        if () in below:
            mount("--rbind", below[()], shown / name)
        else:
            show(real / name, shown / name, below)
    for entry in real.iterdir() if real.is_dir() else ():
        if entry.name not in ways:
            bind(entry, shown / entry.name)


def bind(entry, target):
    if entry.is_symlink():
        target.symlink_to(os.readlink(entry))
    elif entry.is_dir():
        target.mkdir()
        mount("--rbind", entry, target)
    elif entry.is_file():
        target.touch()
        mount("--bind", entry, target)
