"""A real node around a control plane of `cluster`, in a room of its own: containerd, kubelet, kube-proxy and CoreDNS."""

import json
import os
import pathlib
import subprocess
import time

import identities
import node_files
from control_plane import Cluster
from host import Failure, run_tool
from oci_image import write_image
from room import ADDRESS, NAME

HERE = pathlib.Path(__file__).resolve().parent
# How the control plane around it is started: pods reach the API server at the node's address, by the Service `kubernetes`.
CLUSTER_OPTIONS = ["--with-controller-manager", "--with-scheduler", "--etcd-unsafe-no-fsync", "--apiserver-flag=--bind-address=0.0.0.0",
                   f"--apiserver-flag=--advertise-address={ADDRESS}", "--apiserver-flag=--endpoint-reconciler-type=lease"]
SECONDS = 60  # to become ready


class RealNode:
    """The node of the cluster in a directory. Entered, it is Ready, and services and names work; left, its programs have ended.
    The containers end with the room."""

    def __init__(self, directory, archives=()):
        self.cluster = Cluster(directory)
        self.archives = archives
        self.files = self.cluster.directory / "node"
        self.packages = run_tool(str(HERE / "node-packages")).strip()

    def __enter__(self):
        if not self.cluster.load():
            raise Failure(f"{self.cluster.directory} holds no cluster")
        self.binaries = self.cluster.state["settings"]["binaries"]
        self.deadline = time.monotonic() + SECONDS
        self.write_files()
        self.start("containerd")
        self.cluster.wait("containerd", self.runtime_answers, node_files.RUNTIME_SOCKET, self.deadline)
        write_image(self.files / "pause.tar", node_files.PAUSE_IMAGE, {"/pause": f"{self.packages}/pause"}, ["/pause"], "65535:65535")
        self.load(self.files / "pause.tar", *self.archives)
        # More specific than the blackhole: lets programs of the node itself reach services.
        run_tool("ip", "route", "add", self.cluster.state["settings"]["service_cidr"], "dev", "lo", "src", ADDRESS)
        self.start("kubelet")
        self.start("dns")
        self.cluster.wait("kubelet", self.exists, "its Node", self.deadline)
        self.start("kube-proxy")  # without its Node it would wait in steps of a second and more
        self.cluster.wait_for("dns", f"http://{ADDRESS}:8054/ready", self.deadline)
        self.cluster.wait_for("kube-proxy", "http://127.0.0.1:10256/healthz", self.deadline)
        self.wait_ready()
        return self

    def __exit__(self, *_):
        self.cluster.load()
        self.cluster.end([name for name in ("kube-proxy", "dns", "kubelet", "containerd") if name in self.cluster.state["programs"]])

    def write_files(self):
        self.files.mkdir()
        (self.files / "cni").mkdir()
        for user, groups in ((node_files.KUBELET, ["system:nodes"]), (node_files.PROXY, []), (node_files.DNS, [])):
            identities.add_certificate_user(self.cluster, user, groups)
        for name, content in (("kubelet.json", node_files.kubelet(self.cluster)), ("proxy.json", node_files.proxy(self.cluster)),
                              ("cni/10-pods.conflist", node_files.pod_network()), ("Corefile", node_files.dns(self.cluster)),
                              ("containerd.toml", node_files.containerd(self.packages, self.files / "cni"))):
            (self.files / name).write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        run_tool(f"{self.binaries}/kubectl", "--kubeconfig", self.cluster.path("kubeconfig"), "create", "-f", self.written_rights())

    def written_rights(self):
        path = self.files / "rights.json"
        path.write_text(json.dumps(node_files.rights()))
        return str(path)

    # ---- its programs

    def start(self, name):
        """Starts one of its programs, also again."""
        programs = f"{self.packages}/usr/bin:{self.packages}/usr/sbin:{os.environ['PATH']}"
        argv = {
            "containerd": [f"{self.packages}/usr/bin/containerd", "--config", f"{self.files}/containerd.toml"],
            "kubelet": [f"{self.binaries}/kubelet", f"--config={self.files}/kubelet.json", f"--hostname-override={NAME}", f"--node-ip={ADDRESS}",
                        f"--kubeconfig={identities.kubeconfig(self.cluster, node_files.KUBELET)}", "--root-dir=/var/lib/kubelet",
                        "--cert-dir=/var/lib/kubelet/pki"],
            "kube-proxy": [f"{self.binaries}/kube-proxy", f"--config={self.files}/proxy.json"],
            "dns": [f"{self.binaries}/dns", "-conf", f"{self.files}/Corefile"],
        }[name]
        self.cluster.load()
        self.cluster.spawn(name, argv, [], "", {"PATH": programs})

    def stop(self, name):
        self.cluster.load()
        self.cluster.end([name])

    def runtime_answers(self):
        return subprocess.run([f"{self.packages}/usr/bin/ctr", "version"], capture_output=True, check=False).returncode == 0

    def exists(self):
        return self.seen() is not None

    def seen(self):
        """Its Node, or nothing."""
        status, answer = self.cluster.fetch(f"{self.cluster.state['settings']['api']}/api/v1/nodes/{NAME}")
        return json.loads(answer) if status == 200 else None

    def ready(self):
        node = self.seen()
        return node is not None and any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))

    def wait_ready(self):
        self.cluster.wait("kubelet", self.ready, "its Node Ready", self.deadline)

    # ---- its images

    def load(self, *archives):
        for archive in archives:
            self.images("import", str(archive))

    def images(self, *words):
        """`ctr images` with these words, in the namespace of Kubernetes."""
        return run_tool(f"{self.packages}/usr/bin/ctr", "--namespace", "k8s.io", "images", *words)
