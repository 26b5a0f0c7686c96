"""The tree that is installed: below /usr of a machine, /usr/local, or anywhere. bin/muster finds lib/muster from where it lies."""
import os
import pathlib
import re
import shutil
import subprocess

PROGRAMS = ("muster", "muster-shim", "muster-agent", "muster-trainer")
# What every machine has: glibc, and what the kernel shows.
GLIBC = re.compile(r"^(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|linux-vdso)\.so")


class Missing(Exception):
    """Something that the package needs is not there, or needs more than it may."""


def version(root):
    return re.search(r'kVersion = "(.*)"', (root / "src/base/version.h").read_text())[1]


def libraries(program):
    """Name → file of the shared libraries that a program loads, all the way down; none for static ones."""
    # The loader itself is asked: whatever LD_LIBRARY_PATH names here is nothing to us.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    done = subprocess.run(["ldd", program], text=True, capture_output=True, env=environment, check=False)
    if done.returncode != 0:
        return {}
    found = dict(re.findall(r"^\s*(\S+) => (\S+) \(", done.stdout, re.M))
    if "not found" in done.stdout:
        raise Missing(f"{program}: {done.stdout}")
    return {name: pathlib.Path(path) for name, path in found.items()}


def loader(program):
    """The dynamic loader that a program names; None for static ones."""
    done = subprocess.run(["ldd", program], text=True, capture_output=True, check=False)
    found = re.search(r"^\s*(/\S+) \(", done.stdout, re.M)
    return pathlib.Path(found[1]) if found and done.returncode == 0 else None


def carried(program):
    return {name: path for name, path in libraries(program).items() if not GLIBC.match(name)}


def of_glibc(program):
    return {name: path for name, path in libraries(program).items() if GLIBC.match(name)}


def put(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if os.access(source, os.X_OK) else 0o644)


def put_program(source, target):
    """Without the names of its functions, which nothing reads."""
    if not source.exists():
        raise Missing(f"{source} is not built; ./dev package builds it")
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["llvm-strip-19", "--strip-all", "-o", target, source], check=True)
    target.chmod(0o755)


def put_examples(root, target):
    """The manifests and their programs; not the sources of muster-trainer, which is there itself."""
    listed = subprocess.run(["git", "ls-files", "examples"], cwd=root, text=True, capture_output=True, check=True).stdout
    for name in listed.splitlines():
        path = pathlib.Path(name)
        if path.parts[1] != "trainer":
            put(root / path, target / path)


def put_notices(root, packages, target):
    """Our licence, and what the makers of everything that is linked in or carried along say of theirs."""
    put(root / "LICENSE", target / "LICENSE")
    put(root / "docs/third-party.md", target / "third-party.md")
    for package in packages:
        put(pathlib.Path("/usr/share/doc") / package / "copyright", target / "third-party" / package)


def printed(*words):
    return subprocess.run(words, text=True, capture_output=True, check=True).stdout


def put_help(program, share):
    """Manual pages and what the shells complete, as the program itself prints them."""
    commands = [line.split("\t")[0] for line in printed(program, "__complete", "").splitlines()]
    texts = {f"man/man1/muster{'-' * bool(command)}{command}.1": printed(program, "help", "--man", *filter(None, [command])) for command in ["", *commands]}
    places = {"bash": "bash-completion/completions/muster", "zsh": "zsh/site-functions/_muster", "fish": "fish/vendor_completions.d/muster.fish"}
    texts |= {place: printed(program, "completion", shell) for shell, place in places.items()}
    for name, text in texts.items():
        (share / name).parent.mkdir(parents=True, exist_ok=True)
        (share / name).write_text(text)


def make(root, built, packages, tree):
    """All of it; packages: what is linked in or carried along."""
    for name in PROGRAMS:
        put_program(built / name, tree / "bin" / name)
    for name, path in carried(built / "muster").items():
        put(path, tree / "lib/muster" / name)
    for name in PROGRAMS:
        if name != "muster" and carried(built / name):
            raise Missing(f"{name} needs {', '.join(carried(built / name))}: it is to need glibc alone")
    put_help(tree / "bin/muster", tree / "share")
    put_examples(root, tree / "share/muster")
    put_notices(root, packages, tree / "share/doc/muster")
    return tree
