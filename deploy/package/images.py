"""OCI image archives without a container engine: `ctr images import`, `podman load` and `skopeo copy oci-archive:` read them.

The names are those of deploy/operator.yaml. Containerfile beside this file makes the same with buildah, podman or docker."""
import collections
import hashlib
import io
import json
import re
import shutil
import tarfile

import files
import trees

# A number, because the kubelet cannot see that a name is not root's.
USER = 65532
ACCOUNTS = {"etc/passwd": f"muster:x:{USER}:{USER}::/:/\n", "etc/group": f"muster:x:{USER}:\n"}

Image = collections.namedtuple("Image", "name program root")


def names(root, version):
    """Of the operator, the in-pod agent and the trainer: the operator's, with another last part."""
    operator = re.search(r"^\s*image: (\S+)$", (root / "deploy/operator.yaml").read_text(), re.M)[1]
    if not operator.endswith(f"/muster:{version}"):
        raise trees.Missing(f"deploy/operator.yaml names the image {operator}, not one of muster:{version}")
    return [operator.replace("/muster:", f"/{name}:") for name in ("muster", "muster-agent", "muster-trainer")]


def put_root(tree, program, root):
    """The files of one image: the program, what it is linked with, and nothing else; no shell, no package manager."""
    trees.put(tree / "bin" / program, root / "usr/bin" / program)
    for name in trees.carried(tree / "bin" / program):
        trees.put(tree / "lib/muster" / name, root / "usr/lib/muster" / name)
    for name, path in trees.of_glibc(tree / "bin" / program).items():
        trees.put(path, root / "lib/x86_64-linux-gnu" / name)
    loader = trees.loader(tree / "bin" / program)
    if loader:
        trees.put(loader, root / str(loader).lstrip("/"))
    for name, text in ACCOUNTS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    shutil.copytree(tree / "share/doc/muster", root / "usr/share/doc/muster")


class Blobs(dict):
    """Path in the archive → content; every blob is named by its digest."""

    def add(self, content, kind):
        digest = hashlib.sha256(content).hexdigest()
        self[f"blobs/sha256/{digest}"] = content
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    def add_json(self, value, kind):
        return self.add(json.dumps(value, sort_keys=True).encode(), kind)


def add_image(blobs, image, when):
    """The descriptor of its manifest, under its full name: containerd asks for the first annotation, others for the second."""
    layer = files.tar_of(image.root, "", when)
    config = {
        "architecture": "amd64", "os": "linux", "created": files.time_text(when),
        "config": {"User": f"{USER}:{USER}", "Entrypoint": [f"/usr/bin/{image.program}"], "Env": ["PATH=/usr/bin"], "WorkingDir": "/",
                   "Labels": {"org.opencontainers.image.title": image.program, "org.opencontainers.image.licenses": "Apache-2.0",
                              "org.opencontainers.image.version": image.name.split(":")[1]}},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created": files.time_text(when), "created_by": "deploy/package/build"}],
    }
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": blobs.add_json(config, "config.v1+json"), "layers": [blobs.add(files.gzipped(layer), "layer.v1.tar+gzip")]}
    return {**blobs.add_json(manifest, "manifest.v1+json"), "platform": {"architecture": "amd64", "os": "linux"},
            "annotations": {"io.containerd.image.name": image.name, "org.opencontainers.image.ref.name": image.name}}


def write(path, images, when):
    blobs = Blobs()
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
             "manifests": [add_image(blobs, image, when) for image in images]}
    blobs["index.json"] = json.dumps(index, sort_keys=True).encode()
    blobs["oci-layout"] = b'{"imageLayoutVersion": "1.0.0"}'
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for folder in ("blobs", "blobs/sha256"):
            archive.addfile(files.entry(folder, when))
        for name, content in sorted(blobs.items()):
            info = files.entry(name, when)
            info.type, info.mode, info.size = tarfile.REGTYPE, 0o644, len(content)
            archive.addfile(info, io.BytesIO(content))
    path.write_bytes(out.getvalue())


def make(root, tree, target, work, version, when):
    """The operator and the agent that its jobs' pods bring along are in one archive."""
    images = []
    for name, program in zip(names(root, version), ("muster", "muster-agent", "muster-trainer")):
        put_root(tree, program, work / program)
        images.append(Image(name, program, work / program))
    write(target / f"muster-operator-{version}.oci.tar", images[:2], when)
    write(target / f"muster-trainer-{version}.oci.tar", images[2:], when)
