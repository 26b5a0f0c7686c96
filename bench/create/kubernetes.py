"""The three clients of the benchmark: an administrator that prepares, h2load that loads, and a watch that counts."""

import base64
import http.client
import json
import pathlib
import re
import ssl
import subprocess
import threading
import time


class Identity:
    """Who a kubeconfig of tests/kubernetes/cluster says one is."""

    def __init__(self, kubeconfig):
        text = pathlib.Path(kubeconfig).read_text()

        def value(key):
            return re.search(rf"^\s*{key}: (\S+)$", text, re.MULTILINE).group(1)

        self.server = value("server")
        self.host = self.server.removeprefix("https://")
        self.token = value("token")
        self.authority = base64.b64decode(value("certificate-authority-data")).decode()


class Client:
    """One connection, one request at a time."""

    def __init__(self, identity, timeout=120):
        self.identity = identity
        self.timeout = timeout
        self.connection = self.connect()

    def connect(self):
        context = ssl.create_default_context(cadata=self.identity.authority)
        return http.client.HTTPSConnection(self.identity.host, timeout=self.timeout, context=context)

    def open(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.identity.token}", "Content-Type": "application/json"}
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.read().decode()[:500]}")
        return answer

    def call(self, method, path, body=None):
        return json.loads(self.open(method, path, json.dumps(body) if body is not None else None).read())

    def clear(self, path):
        """Deletes a collection and waits until it is empty."""
        while self.call("GET", path + "?limit=1")["items"]:
            self.call("DELETE", path + "?gracePeriodSeconds=0")


class Watch:
    """Counts what comes into a collection from now on, and notes when. Use as a context."""

    def __init__(self, identity, path, keep=False):
        self.client = Client(identity, timeout=600)
        self.path = path
        self.keep = keep
        self.lines = []  # the events themselves, with `keep`
        self.added = []  # when each object was seen first
        self.last = 0.0  # when anything was seen last
        self.changed = threading.Condition()
        self.closed = False

    def __enter__(self):
        version = self.client.call("GET", self.path + "?limit=1")["metadata"]["resourceVersion"]
        # limit=1 reads the latest state, so nothing that happens from here on is missed.
        self.answer = self.client.open("GET", f"{self.path}?watch=true&resourceVersion={version}")
        self.socket = self.client.connection.sock
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.closed = True
        try:
            self.answer.fp.raw._sock.shutdown(2)  # wakes the reader
        except OSError:
            pass
        self.thread.join(10)

    def read(self):
        pending = b""
        while not self.closed:
            try:
                data = self.answer.read1(1 << 18)
            except (OSError, ValueError, http.client.HTTPException):
                data = b""
            if not data:
                return
            now = time.monotonic()
            lines = (pending + data).split(b"\n")
            pending = lines.pop()
            with self.changed:
                for line in lines:
                    if line.startswith(b'{"type":"ADDED"'):
                        self.added.append(now)
                    elif line.startswith(b'{"type":"ERROR"'):
                        raise RuntimeError(line.decode())
                    self.last = now
                    if self.keep:
                        self.lines.append((now, line))
                self.changed.notify_all()

    def wait_added(self, count, timeout=300):
        """When the count-th object was seen."""
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.added) >= count, timeout):
                raise TimeoutError(f"{self.path}: {len(self.added)} of {count} objects after {timeout} s")
            return self.added[count - 1]

    def wait_line(self, wanted, timeout=60):
        """When the first event was seen for which wanted(object) holds."""
        seen = 0
        deadline = time.monotonic() + timeout
        with self.changed:
            while True:
                for when, line in self.lines[seen:]:
                    if wanted(json.loads(line)):
                        return when
                seen = len(self.lines)
                if not self.changed.wait(deadline - time.monotonic()):
                    raise TimeoutError(f"{self.path}: the event did not come in {timeout} s")

    def wait_quiet(self, others, quiet, timeout):
        """Waits until neither this nor the other watches saw anything for a while; when the last thing came."""
        deadline = time.monotonic() + timeout
        while True:
            last = max(watch.last for watch in [self, *others])
            if time.monotonic() - last >= quiet or time.monotonic() > deadline:
                return last
            time.sleep(0.05)


def load(identity, path, body_file, count, connections, in_flight):
    """h2load creates `count` objects; returns the seconds that it says it took."""
    argv = ["h2load", "-n", str(count), "-c", str(connections), "-m", str(max(1, in_flight // connections)),
            "-d", str(body_file), "-H", "content-type: application/json",
            "-H", f"authorization: Bearer {identity.token}", identity.server + path]
    text = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout
    good = re.search(r"status codes: (\d+) 2xx", text)
    if not good or int(good.group(1)) != count:
        raise RuntimeError("h2load did not create everything:\n" + text)
    number, unit = re.search(r"finished in ([0-9.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit]
