"""Pods without a cluster: muster-agent as it is started in a container, with namespaces of its own, over an API server of ours."""
import contextlib
import http.server
import json
import os
import pathlib
import ssl
import subprocess
import threading
import urllib.parse

from checks import BIN, ROOT, Failure, wait_until

EXAMPLE = ROOT / "examples/paddle-legacy"
JOB = "paddle-cluster-job"
TOKEN = "the-token-of-the-pod"


def output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def make_devices(addresses):
    """A network device for each address, in the namespace of this process."""
    output("ip", "link", "set", "lo", "up")
    for i, address in enumerate(addresses):
        output("ip", "link", "add", f"pod{i}", "type", "bridge")
        output("ip", "address", "add", f"{address}/32", "dev", f"pod{i}")
        output("ip", "link", "set", f"pod{i}", "up")


def make_certificate(directory):
    """A certificate for 127.0.0.1 that is its own CA."""
    directory.mkdir(parents=True)
    output("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=api",
           "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", directory / "key.pem", "-out", directory / "ca.crt")
    return directory


class Api:
    """GET …/pods over TLS. `pods` is what exists, `answer` a status and body given instead; every request is remembered."""

    def __init__(self, certificate):
        self.certificate = certificate
        self.pods, self.answer, self.requests = [], None, []
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                api.requests.append((self.path, self.headers.get("Authorization")))
                status, body = api.answer or (200, api.list(self.path))
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """A client that went away in the handshake is none of the test's business."""

        self.server = Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate / "ca.crt", certificate / "key.pem")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def list(self, path):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)
        key, _, value = query.get("labelSelector", [""])[0].partition("=")
        return {"kind": "PodList", "items": [pod for pod in self.pods if not key or pod["metadata"]["labels"].get(key) == value]}

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def pod(address, phase="Running", job=JOB, **metadata):
    return {"metadata": {"name": f"{job}-{address}", "labels": {"job-name": job}, **metadata},
            "status": {"phase": phase, "podIP": address}}


# In mount and UTS namespaces of its own: the hosts file, /root, the service account and the programs as in a container. What comes from
# elsewhere is taken before /root and /run are covered.
START = """set -e
hostname "$NAME"
mount -t tmpfs pod /mnt
mkdir /mnt/image /mnt/job /mnt/account
touch /mnt/muster-agent
mount --bind "$AGENT" /mnt/muster-agent
mount --bind "$IMAGE" /mnt/image
mount --bind "$JOBS" /mnt/job
cp "$ACCOUNT"/* /mnt/account/
mount --bind "$HOSTS" /etc/hosts
mount -t tmpfs pod /root
mount -t tmpfs pod /run
mkdir -p /run/secrets/kubernetes.io
cp -r /mnt/account /run/secrets/kubernetes.io/serviceaccount
cd /
exec env -i $VARIABLES /mnt/muster-agent paddle-legacy "$@"
"""


class Pods:
    """The pods of one job, and all that they see."""

    def __init__(self, directory, api):
        self.directory, self.api = directory, api
        self.jobs = directory / "jobs"
        self.jobs.mkdir(parents=True)
        self.root = self.jobs / JOB
        self.image = EXAMPLE / "image"
        self.account = directory / "account"
        self.account.mkdir()
        (self.account / "ca.crt").write_bytes((api.certificate / "ca.crt").read_bytes())
        (self.account / "token").write_text(TOKEN + "\n")
        (self.account / "namespace").write_text("default")
        self.running = []

    def write_data(self, count=3):
        output(EXAMPLE / "data-image/usr/local/bin/get_data", env={**os.environ, "OUT_DIR": str(self.root), "SPLIT_COUNT": str(count)})

    def start(self, address, nic, *options, count=3, **variables):
        """The container of the pod with this address; None as a variable's value: not set."""
        hosts = self.directory / f"hosts-{address}"
        hosts.write_text(f"127.0.0.1 localhost\n{address} pod-{nic}\n")
        environment = {
            "PATH": "/mnt/image/usr/local/bin:/usr/local/bin:/usr/bin:/bin",
            "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT_HTTPS": self.api.port,
            "JOB_NAME": JOB, "JOB_PATH": "/mnt/job", "TRAIN_CONFIG_DIR": "quick_start", "CONF_PADDLE_NIC": nic, "CONF_PADDLE_PORT": 7164,
            "CONF_PADDLE_PORTS_NUM": 2, "CONF_PADDLE_PORTS_NUM_SPARSE": 2, "CONF_PADDLE_GRADIENT_NUM": count, **variables}
        words = " ".join(f"{name}={value}" for name, value in environment.items() if value is not None)
        seen = {"NAME": f"pod-{nic}", "AGENT": BIN / "muster-agent", "IMAGE": self.image, "JOBS": self.jobs, "ACCOUNT": self.account,
                "HOSTS": hosts, "VARIABLES": words}
        out = (self.directory / f"out-{len(self.running)}").open("w+")
        process = subprocess.Popen(["unshare", "--mount", "--uts", "--propagation", "private", "/bin/sh", "-c", START, "sh", *options],
                                   env={**os.environ, **{name: str(value) for name, value in seen.items()}}, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=subprocess.STDOUT)
        process.out = pathlib.Path(out.name)
        out.close()
        self.running.append(process)
        return process

    def ended(self, process, limit=60):
        """Exit code and everything that it printed."""
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            raise Failure(f"did not end within {limit} s: {process.out.read_text()[-2000:]}") from None
        return process.returncode, process.out.read_text()

    def wait_for_output(self, process, text):
        def said():
            return text in process.out.read_text() or (process.poll() is not None and Failure)
        if wait_until(said, f"{text!r} in the output of the agent") is Failure:
            raise Failure(f"ended with {process.returncode} without {text!r}: {process.out.read_text()}")

    def close(self):
        for process in self.running:
            if process.poll() is None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
            if process.poll() is None:
                process.kill()
                process.wait()
