"""Image archives in the layout of OCI, made of programs of this machine and the libraries that they load."""

import hashlib
import io
import json
import pathlib
import re
import tarfile

from host import run_tool


def write_image(archive, name, programs, entrypoint=(), user=""):
    """Writes the archive of an image of one layer. `programs`: path in the image → file here. The name has to be complete, with host
    and tag: a container runtime looks for nothing shorter."""
    layer = layer_of({**needed_libraries(programs.values()), **programs})
    config = encoded({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
                      "config": {"Env": ["PATH=/usr/bin:/bin"], **({"Entrypoint": list(entrypoint)} if entrypoint else {}),
                                 **({"User": user} if user else {})}})
    manifest = encoded({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                        "config": described("application/vnd.oci.image.config.v1+json", config),
                        "layers": [described("application/vnd.oci.image.layer.v1.tar", layer)]})
    index = encoded({"schemaVersion": 2, "manifests": [{
        **described("application/vnd.oci.image.manifest.v1+json", manifest),
        "annotations": {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}}]})
    with tarfile.open(archive, "w") as out:
        add(out, "oci-layout", encoded({"imageLayoutVersion": "1.0.0"}))
        add(out, "index.json", index)
        for blob in (config, manifest, layer):
            add(out, "blobs/" + digest(blob).replace(":", "/"), blob)


def needed_libraries(programs):
    """Path → file of what the dynamic programs among these load, the loader too."""
    found = {}
    for program in programs:
        if b"/ld-linux" in pathlib.Path(program).read_bytes()[:4096]:  # a static one names no loader
            for path in re.findall(r"(/\S+) \(0x", run_tool("ldd", str(program))):
                found[path] = path
    return found


def layer_of(files):
    """A tar of these files and the folders on their ways, always the same for the same files."""
    folders = sorted({str(folder) for path in files for folder in pathlib.PurePosixPath(path).parents} - {"/"})
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w", format=tarfile.PAX_FORMAT) as out:
        for folder in [*folders, "/tmp"]:
            info = tarfile.TarInfo(folder.lstrip("/"))
            info.type, info.mode = tarfile.DIRTYPE, 0o1777 if folder == "/tmp" else 0o755
            out.addfile(info)
        for path, source in sorted(files.items()):
            add(out, path.lstrip("/"), pathlib.Path(source).read_bytes(), mode=0o755)
    return memory.getvalue()


def add(out, name, content, mode=0o644):
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    out.addfile(info, io.BytesIO(content))


def described(media_type, blob):
    return {"mediaType": media_type, "digest": digest(blob), "size": len(blob)}


def digest(blob):
    return "sha256:" + hashlib.sha256(blob).hexdigest()


def encoded(value):
    return json.dumps(value, sort_keys=True).encode()
