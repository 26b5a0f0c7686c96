"""A client that takes all it can get: `crowd.py watch SOCKET PATH COUNT` opens watches, reads half of them and the other half never;
`crowd.py idle SOCKET PORT COUNT` opens connections and says nothing on them, half over the socket and half over TCP.
Prints what it got as a line of JSON and holds it until its input ends."""
import collections
import contextlib
import json
import resource
import selectors
import socket
import sys
import threading


def connect(path):
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.connect(path)  # waits where a connect with a timeout would give up: at a queue that is full
    stream.settimeout(30)
    return stream


def open_watch(path, target):
    """The connection of a watch, and the status of its answer."""
    stream = connect(path)
    stream.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return stream, int(stream.recv(4096).split()[1])


def read_all(streams):
    """Reads as they come, as a client does that keeps up as well as it can."""
    reading = selectors.DefaultSelector()
    buffer = bytearray(1 << 20)
    for stream in streams:
        stream.setblocking(False)
        reading.register(stream, selectors.EVENT_READ)
    while reading.get_map():
        for key, _ in reading.select():
            with contextlib.suppress(BlockingIOError, ConnectionError):
                if key.fileobj.recv_into(buffer) > 0:
                    continue
                reading.unregister(key.fileobj)
            # an error: what is left of it is of no use


def watch(path, target, count):
    opened = [open_watch(path, target) for _ in range(count)]
    statuses = collections.Counter(status for _, status in opened)
    watching = [stream for stream, status in opened if status == 200]
    threading.Thread(target=read_all, args=(watching[::2],), daemon=True).start()
    return opened, statuses


def idle(path, port, count):
    opened = [connect(path) if i % 2 else socket.create_connection(("127.0.0.1", port), 30) for i in range(count)]
    return opened, {"idle": len(opened)}


hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
verb, where, what, number = sys.argv[1:]
held, got = watch(where, what, int(number)) if verb == "watch" else idle(where, int(what), int(number))
print(json.dumps(got), flush=True)
sys.stdin.read()
