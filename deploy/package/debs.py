"""The Debian package: the tree below /usr, with what Debian keeps elsewhere moved there."""
import gzip
import hashlib
import os
import shutil
import subprocess

CONTROL = """Package: muster
Version: {version}
Architecture: amd64
Maintainer: The Muster maintainers <maintainers@muster.dev>
Installed-Size: {size}
Depends: libc6 (>= 2.36)
Section: admin
Priority: optional
Description: One control plane for distributed training jobs
 Runs the manifests of MindSpore, PaddlePaddle and MPI jobs, as the operator of a
 Kubernetes cluster and on one machine with no cluster at all.
"""


def prepare(tree, root):
    shutil.copytree(tree, root / "usr")
    share = root / "usr/share"
    (share / "zsh/site-functions").rename(share / "zsh/vendor-completions")
    (share / "doc/muster/LICENSE").rename(share / "doc/muster/copyright")
    for page in (share / "man/man1").iterdir():
        page.with_name(page.name + ".gz").write_bytes(gzip.compress(page.read_bytes(), mtime=0))
        page.unlink()


def describe(root, version):
    paths = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    size = sum((path.stat().st_size + 1023) // 1024 for path in paths)
    sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in paths]
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(CONTROL.format(version=version, size=size))
    (root / "DEBIAN/md5sums").write_text("".join(sums))


def make(tree, target, work, version, when):
    prepare(tree, work)
    describe(work, version)
    for path in [work, *work.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z6", "--build", work, target / f"muster_{version}_amd64.deb"],
                   env={**os.environ, "SOURCE_DATE_EPOCH": str(when)}, stdout=subprocess.DEVNULL, check=True)
