"""A machine's network with an outside that is made up: a room with a default route into a second network, where somebody answers. Nothing
leaves the machine."""
import contextlib
import ctypes
import os
import subprocess
import sys

# Addresses that are set aside for examples.
OWN, GATEWAY, SERVER, PORT = "198.51.100.2", "198.51.100.1", "203.0.113.7", 8000
CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000

# Answers everybody with the address that he comes from.
ANSWERING = f"""
import http.server
class Answering(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.client_address[0].encode())
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("{SERVER}", {PORT}), Answering)
print("ready", flush=True)
server.serve_forever()
"""


def call(*words):
    subprocess.run(words, check=True)


@contextlib.contextmanager
def entered():
    """By root, for the rest of the process's life: mounts and a network of its own, in which everybody may make tun links."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS | CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    call("mount", "--make-rslave", "/")
    os.makedirs("/dev/net", exist_ok=True)
    call("mount", "-t", "tmpfs", "tmpfs", "/dev/net")
    call("mknod", "-m", "666", "/dev/net/tun", "c", "10", "200")
    call("ip", "link", "set", "lo", "up")
    with subprocess.Popen(["unshare", "--net", "sh", "-c", "read go && exec \"$@\"", "sh", sys.executable, "-c", ANSWERING],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            wait_for_network_of(server.pid)
            call("ip", "link", "add", "outside", "type", "veth", "peer", "name", "inside", "netns", str(server.pid))
            there = ("nsenter", "-t", str(server.pid), "-n", "ip")
            call(*there, "addr", "add", f"{GATEWAY}/24", "dev", "inside")
            call(*there, "addr", "add", f"{SERVER}/32", "dev", "inside")
            call(*there, "link", "set", "inside", "up")
            call("ip", "addr", "add", f"{OWN}/24", "dev", "outside")
            call("ip", "link", "set", "outside", "up")
            call("ip", "route", "add", "default", "via", GATEWAY)
            server.stdin.write("go\n")
            server.stdin.flush()
            if server.stdout.readline() != "ready\n":
                raise OSError("nobody answers outside")
            yield
        finally:
            server.kill()


def wait_for_network_of(pid):
    own = os.readlink("/proc/self/ns/net")
    while os.readlink(f"/proc/{pid}/ns/net") == own:
        os.sched_yield()
