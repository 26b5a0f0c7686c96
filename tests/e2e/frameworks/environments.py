"""Virtual environments with real frameworks: laid once from pinned, hashed packages, kept in the cache; and programs that MPI runs.

Each is a section of `pins.lock`, which `tests/e2e/frameworks/lock` makes from WANTED. Nothing is skipped: an environment that
cannot be laid is a Failure with the reason, of every row that needs it.
"""
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from checks import ROOT, Failure, check

HERE = pathlib.Path(__file__).resolve().parent
LOCK = HERE / "pins.lock"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "muster"
# Debian's own: an interpreter that others put before it in PATH may be of another version, for which there are no wheels.
PYTHON = pathlib.Path("/usr/bin/python3")
INSTALL_LIMIT = 600  # seconds; the largest wheel has 800 MB
UNUSED_DAYS = 30

# What each environment is made for; everything else in it follows from the lock.
WANTED = {
    "uv": ["uv"],
    "mindspore": ["mindspore==2.10.0"],
    "paddle": ["paddlepaddle==3.3.1", "setuptools"],  # which it imports and does not ask for
    "paddle-ps": ["paddlepaddle==2.6.2", "protobuf==4.25.8", "numpy<2", "setuptools"],
    "chainer": ["chainer==7.8.1", "numpy==1.23.5", "mpi4py==4.1.2", "setuptools<74"],  # numpy wants its msvccompiler
    "horovod": ["horovod==0.28.1", "setuptools<81"],
}
# Packages that are published as sources only: wheels of them are built with what else is in the environment, and kept.
SOURCES = {"chainer": "chainer", "horovod": "horovod"}
# Debian's packages that an environment shows and that its wheel is compiled against; others see nothing of Debian.
DEBIAN = {"horovod": ["python3-torch", "libtorch-dev", "pybind11-dev", "libopenmpi-dev"]}
# Programs of examples/ that are compiled for Open MPI, with its compiler: where in the copy of examples/, without the suffix.
PROGRAMS = {"random_walk": "t9k/image/usr/local/code/random_walk"}
# What a wheel is built with. MPI and PyTorch on CPUs; as many compilers as this process may use cores.
BUILD = {"HOROVOD_WITH_MPI": "1", "HOROVOD_WITHOUT_GLOO": "1", "HOROVOD_WITH_PYTORCH": "1", "HOROVOD_WITHOUT_TENSORFLOW": "1",
         "HOROVOD_WITHOUT_MXNET": "1", "MAKEFLAGS": f"-j{len(os.sched_getaffinity(0))}"}
BUILD_LIMIT = 900  # seconds; Horovod takes five minutes on one core


def sections():
    """Name → requirements with their hashes, as they stand in the lock."""
    parts = re.split(r"^## (\S+)\n", LOCK.read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def uv_environment():
    """Hard links from uv's cache into the environments: packages take their space once."""
    return {**os.environ, "UV_CACHE_DIR": str(CACHE / "uv"), "UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1", "UV_HTTP_TIMEOUT": "180"}


def run(what, command, limit=INSTALL_LIMIT, env=None):
    try:
        done = subprocess.run([str(word) for word in command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise Failure(f"{what} took longer than {limit} s") from None
    check(done.returncode == 0, lambda: f"{what} ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return done.stdout


class Environments:
    """The environments that a suite asks for. Each is tried once; a failure is remembered and told again."""

    def __init__(self, stack):
        self.tried = {}
        # The checkout may be below /tmp, which is every pod's own: programs are started from a copy beside the environments.
        CACHE.mkdir(parents=True, exist_ok=True)
        self.examples = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="examples.", dir=CACHE)))
        shutil.copytree(ROOT / "examples", self.examples, dirs_exist_ok=True, symlinks=True)

    def python(self, name):
        """The absolute path of an environment's python, with everything installed."""
        return self.once(name, lambda: laid(name) / "bin/python", f"the environment {name} cannot be installed")

    def program(self, name):
        """Compiles a program of examples/ where its image expects it."""
        path = self.examples / PROGRAMS[name]
        return self.once(name, lambda: compiled(path), f"{name} cannot be built")

    def images(self):
        """What images of the examples are on this machine, with the programs that they hold."""
        return [self.examples / example / "images.yaml" for example in ("chainer", "t9k")]

    def once(self, name, made, what):
        if name not in self.tried:
            try:
                self.tried[name] = made()
            except (Failure, OSError) as error:
                self.tried[name] = Failure(f"{what}: {error}")
        found = self.tried[name]
        if isinstance(found, Failure):
            raise found
        return found


def compiled(path):
    run("mpicxx", ["mpicxx", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path, path.with_suffix(".cc")], 120)
    return path


def laid(name):
    """The directory of an environment. Its name has the hash of all that is in it, so it never changes: new pins, new directory."""
    check(PYTHON.exists(), f"there is no {PYTHON}")
    known = sections()
    check(name in known, f"{LOCK.name} has no section {name}; run tests/e2e/frameworks/lock")
    version = run("asking for the version of python", [PYTHON, "-VV"], 30) + debian_versions(name)
    key = hashlib.sha256((version + known[name]).encode()).hexdigest()[:16]
    top = CACHE / "venvs"
    top.mkdir(parents=True, exist_ok=True)
    directory, mark = top / key, top / key / "complete"
    with (top / f"{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another checkout may lay the same
        if not mark.exists():
            shutil.rmtree(directory, ignore_errors=True)
            install(name, known[name], directory)
            mark.write_text(f"{name}\n{version}")
        os.utime(mark)
    remove_unused(top)
    return directory


def debian_versions(name):
    if name not in DEBIAN:
        return ""
    return run("asking for the versions of Debian's packages", ["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", *DEBIAN[name]], 30)


def install(name, requirements, directory):
    pins = directory / "pins.txt"
    if name == "uv":
        run("python3 -m venv", [PYTHON, "-m", "venv", directory])
        pins.write_text(requirements)
        run("pip install uv", [directory / "bin/python", "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "-r", pins])
        return
    uv, python, env = laid("uv") / "bin/uv", directory / "bin/python", uv_environment()
    seen = ["--system-site-packages"] if name in DEBIAN else []
    run("uv venv", [uv, "venv", "--quiet", *seen, "--python", PYTHON, directory], env=env)
    wheels, sources = split(requirements, SOURCES.get(name))
    pins.write_text(wheels)
    # Compiled now: a pod's writes are its own, so each would compile anew what it imports.
    run("uv pip sync", [uv, "pip", "sync", "--quiet", "--python", python, "--require-hashes", "--only-binary", ":all:", "--compile-bytecode", pins], env=env)
    if sources:
        run("uv pip install", [uv, "pip", "install", "--quiet", "--python", python, "--no-deps", "--no-index", "--compile-bytecode",
                               wheel_of(SOURCES[name], sources, directory)], env=env)


def split(requirements, source):
    """The requirements that are wheels, and the one that is sources."""
    entries = re.findall(r"^\S.*\n(?:[ \t].*\n)*", requirements, re.M)
    return tuple("".join(entry for entry in entries if entry.startswith(f"{source}==") == wanted) for wanted in (False, True))


def wheel_of(package, sources, directory):
    """The wheel of a package, built in an environment that has everything else; kept under the name of the environment."""
    top = CACHE / "wheels" / directory.name
    found = list(top.glob(f"{package}-*.whl"))
    if not found:
        top.mkdir(parents=True, exist_ok=True)
        pins = directory / "sources.txt"
        pins.write_text(sources)
        pip = [laid("uv") / "bin/python", "-m", "pip", "--python", directory / "bin/python"]
        run(f"building {package}", [*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-binary", ":all:", "--require-hashes", "-w", top, "-r", pins],
            limit=BUILD_LIMIT, env={**os.environ, **BUILD})
        found = list(top.glob(f"{package}-*.whl"))
    check(len(found) == 1, lambda: f"building {package} left {found} in {top}")
    return found[0]


def remove_unused(top):
    """Environments of earlier pins that no suite has used for a month."""
    oldest = time.time() - UNUSED_DAYS * 86400
    for mark in top.glob("*/complete"):
        if mark.stat().st_mtime < oldest:
            shutil.rmtree(mark.parent, ignore_errors=True)
            shutil.rmtree(CACHE / "wheels" / mark.parent.name, ignore_errors=True)
            (top / f"{mark.parent.name}.lock").unlink(missing_ok=True)
