"""Archives and files whose bytes depend on nothing but their content: order, owners, modes and times are fixed."""
import datetime
import gzip
import hashlib
import io
import json
import tarfile


def time_text(when):
    return datetime.datetime.fromtimestamp(when, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def entry(name, when):
    """A directory, unless more is said of it."""
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.mtime = tarfile.DIRTYPE, 0o755, when
    info.uname = info.gname = "root"
    return info


def add(archive, name, path, when):
    """A file, a link or a directory of the disk, as root's; programs stay programs."""
    info = entry(name, when)
    if path.is_symlink():
        info.type, info.mode, info.linkname = tarfile.SYMTYPE, 0o777, str(path.readlink())
        archive.addfile(info)
    elif path.is_dir():
        archive.addfile(info)
    else:
        content = path.read_bytes()
        info.type, info.size = tarfile.REGTYPE, len(content)
        info.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
        archive.addfile(info, io.BytesIO(content))


def tar_of(tree, prefix, when):
    """Everything below a directory, sorted by name, with the directories on the way."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        if prefix:
            archive.addfile(entry(prefix, when))
        for path in sorted(tree.rglob("*")):
            add(archive, "/".join(filter(None, [prefix, str(path.relative_to(tree))])), path, when)
    return out.getvalue()


def gzipped(content):
    return gzip.compress(content, compresslevel=6, mtime=0)


def write_tar_gz(path, prefix, tree, when):
    path.write_bytes(gzipped(tar_of(tree, prefix, when)))


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1) + "\n")


def write_sums(folder):
    lines = [f"{digest(path)}  {path.name}\n" for path in sorted(folder.iterdir())]
    (folder / "SHA256SUMS").write_text("".join(lines))
