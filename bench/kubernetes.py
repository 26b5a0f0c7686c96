"""The clients of the benchmarks: an administrator that prepares, h2load that loads, and a watch that counts."""

import base64
import http.client
import json
import pathlib
import re
import socket
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

    def open(self, method, path, body=None, accept="application/json"):
        headers = {"Authorization": f"Bearer {self.identity.token}", "Content-Type": "application/json", "Accept": accept}
        try:
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):
            # Closed by the server while nothing was asked for a long time.
            self.connection.close()
            self.connection = self.connect()
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.read().decode()[:500]}")
        return answer

    def call(self, method, path, body=None, accept="application/json"):
        return json.loads(self.open(method, path, json.dumps(body) if body is not None else None, accept).read())

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
        self.failure = ""

    def __enter__(self):
        # limit=1 reads the latest state, so nothing that happens from here on is missed.
        self.version = self.client.call("GET", self.path + "?limit=1")["metadata"]["resourceVersion"]
        self.begin()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.closed = True
        try:
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes the reader
        except OSError:
            pass
        self.thread.join(10)

    def begin(self):
        path = f"{self.path}?watch=true&resourceVersion={self.version}&allowWatchBookmarks=true"
        self.answer = self.client.open("GET", path)
        self.socket = self.client.connection.sock or self.answer.fp.raw._sock

    def read(self):
        """A server that is new ends watches now and then; they go on from where they were."""
        while True:
            self.read_one()
            if self.closed:
                return
            self.client = Client(self.client.identity, timeout=600)
            self.begin()

    def read_one(self):
        pending = b""
        while True:
            try:
                data = self.answer.read1(1 << 18)
            except (OSError, ValueError, http.client.HTTPException):
                return
            if not data:
                return
            now = time.monotonic()
            lines = (pending + data).split(b"\n")
            pending = lines.pop()
            if lines:
                self.take(lines, now)

    def take(self, lines, now):
        with self.changed:
            for line in lines:
                if line.startswith(b'{"type":"ERROR"'):
                    self.failure = line.decode()
                elif not line.startswith(b'{"type":"BOOKMARK"'):
                    self.last = now
                if line.startswith(b'{"type":"ADDED"'):
                    self.added.append(now)
                if self.keep:
                    self.lines.append((now, line))
            self.version = re.search(rb'"resourceVersion":"(\d+)"', lines[-1]).group(1).decode()
            self.changed.notify_all()

    def wait_added(self, count, timeout=300):
        """When the count-th object was seen."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.added) >= count or self.failure, timeout)
            if len(self.added) < count:
                raise TimeoutError(f"{self.path}: {len(self.added)} of {count} objects within {timeout} s {self.failure}")
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
