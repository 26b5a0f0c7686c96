"""Roots of Debian releases, made by mmdebstrap from the mirror that this machine's apt has, and kept in the cache."""
import os
import pathlib
import subprocess

from checks import Failure

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "muster/roots"
# A merged /usr has these; they come with packages that want more than libc.
LINKS = {"lib": "usr/lib", "lib64": "usr/lib64"}


def mirror():
    """Where this machine gets Debian from."""
    sites = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Origin: Debian"],
                           capture_output=True, text=True, check=True).stdout.split()
    if not sites:
        raise Failure("apt knows no mirror of Debian: apt-get update")
    return sites[0]


def sources():
    """Every part of Debian that this machine's apt has, and the proxies by which it gets there, for a root: path → content."""
    def said(*words):
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout
    parts = said("apt-get", "indextargets", "--format", "deb $(SITE) $(RELEASE) $(COMPONENT)", "Created-By: Packages", "Origin: Debian")
    proxies = [line for line in said("apt-config", "dump", "--no-empty").splitlines() if "Proxy" in line]
    return {"/etc/apt/sources.list": parts, "/etc/apt/apt.conf.d/proxies": "".join(f"{line}\n" for line in proxies)}


def archive(release, variant, *packages):
    """A tar of that release's root. `extract`: these packages and what they depend on, unpacked and nothing more. `apt`: those and what apt
    needs, installed."""
    made = CACHE / f"{release}-{'-'.join((variant, *packages))}.tar"
    if made.exists():
        return made
    CACHE.mkdir(parents=True, exist_ok=True)
    fresh = made.with_suffix(f".{os.getpid()}.tar")
    words = ["mmdebstrap", f"--variant={variant}", *(["--include=" + ",".join(packages)] if packages else []), release, fresh,
             f"deb {mirror()} {release} main"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
    if done.returncode != 0:
        fresh.unlink(missing_ok=True)
        raise Failure(f"mmdebstrap {release}: {done.stdout[-2000:]}")
    fresh.rename(made)
    return made


def unpack(made, root):
    subprocess.run(["tar", "--extract", "--numeric-owner", "--file", made, "--directory", root, "--exclude=./dev/*"], check=True)
    for name, target in LINKS.items():
        if not (root / name).exists() and (root / target).exists():
            (root / name).symlink_to(target)
