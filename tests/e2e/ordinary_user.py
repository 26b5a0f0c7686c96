"""A suite that runs as an ordinary user, whoever started it."""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile

from checks import BIN, ROOT

PROGRAMS = ("muster", "muster-shim", "muster-agent", "muster-trainer")


def unused_id():
    """A user and group of nobody: what is to be shown needs no name and no entry anywhere."""
    known = {entry.pw_uid for entry in pwd.getpwall()}
    return next(number for number in range(54321, 60000) if number not in known)


def run_in(room, command, **options):
    """The command's exit code."""
    with room():
        process = subprocess.Popen(command, **options)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: process.send_signal(number))
        return process.wait()


def become(room=contextlib.nullcontext):
    """Goes on as an ordinary user. In a room that root makes, where one is wanted. For root that is another process, of a user of its own who can read programs and tests in a copy of them,
    the directories above ours being root's as a rule; this one ends with its exit code."""
    if os.geteuid() != 0:
        return
    user = unused_id()
    with tempfile.TemporaryDirectory(prefix="mt.", dir="/var/tmp") as top:  # pods have a /tmp of their own
        copy = pathlib.Path(top)
        copy.chmod(0o755)
        home = copy / "user"
        home.mkdir()
        os.chown(home, user, user)
        shutil.copytree(ROOT / "tests/e2e", copy / "tests/e2e", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "examples", copy / "examples")
        (copy / "bin").mkdir()
        for name in PROGRAMS:
            shutil.copy(BIN / name, copy / "bin")
        environment = {**os.environ, "HOME": str(home), "MUSTER_BIN": str(copy / "bin"), "TMPDIR": "/tmp"}
        for name in ("XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "KUBECONFIG"):
            environment.pop(name, None)
        code = run_in(room, [copy / "tests/e2e" / pathlib.Path(sys.argv[0]).name, *sys.argv[1:]], env=environment, cwd="/", user=user, group=user,
                      extra_groups=[])
        shutil.rmtree(f"/dev/shm/muster-homes-{user}", ignore_errors=True)
    sys.exit(code if code >= 0 else 128 - code)
