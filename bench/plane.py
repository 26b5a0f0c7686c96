"""Talking to an embedded control plane: its socket, and the jobs that benchmarks create there."""

import http.client
import json
import socket


class Socket(http.client.HTTPConnection):
    """HTTP over the UNIX socket of a home."""

    def __init__(self, path, timeout=60):
        super().__init__("localhost", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)

    def call(self, method, path, body=None):
        headers = {"Content-Type": "application/json"}
        self.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = self.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text.decode()[:500]}")
        return json.loads(text)


def msjob(name, roles):
    return {"apiVersion": "mindspore.gitee.com/v1", "kind": "MSJob", "metadata": {"name": name, "namespace": "default"},
            "spec": {"runPolicy": {"cleanPodPolicy": "Running"}, "successPolicy": "AllWorkers", "msReplicaSpecs": roles}}
