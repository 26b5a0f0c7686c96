"""`paddle pserver`: dense parameters on ports_num ports; the ports for sparse ones listen, too, but this model has none."""
import fcntl
import signal
import socket
import struct
import threading
import time

import wire
from flags import Flags, fail, log
from shard import Lost, Shard

SIOCGIFADDR = 0x8915
GRACE = 20  # seconds for trainers of other pods that still fetch their last values


def device_address(names):
    """The IPv4 address of the first of these network devices that exists."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for name in names.split(","):
            try:
                answer = fcntl.ioctl(asking, SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                return socket.inet_ntoa(answer[20:24])
            except OSError:
                continue
    return None


def serve(connection, shard):
    """One trainer, until it says goodbye or goes. Who asks nothing only wanted to know whether we listen."""
    trainer, done = None, False
    try:
        while not done and (message := wire.receive(connection)) is not None:
            facts, numbers = message
            if facts["do"] == "join":
                shard.join(facts["trainer"])
                trainer = facts["trainer"]
            elif facts["do"] == "start":
                shard.start(numbers)
            elif facts["do"] == "get":
                wire.send(connection, {}, shard.get())
            elif facts["do"] == "step":
                wire.send(connection, {}, shard.step(trainer, facts["rate"], facts["samples"], numbers))
            elif facts["do"] == "end-pass":
                wire.send(connection, {}, shard.end_pass(trainer, facts["rate"]))
            elif facts["do"] == "leave":
                done = True
    except Lost as lost:
        try:
            wire.send(connection, {"error": str(lost)})
        except OSError:
            pass
    except (OSError, ValueError):
        pass
    finally:
        connection.close()
        if trainer is not None:
            shard.leave(trainer, done)
            log(f"trainer {trainer} {'has finished' if done else 'is gone'}")


def accept(listener, shard):
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(connection, shard), daemon=True).start()


def listen(address, port):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen(128)
    return listener


def main(words):
    flags = Flags(words)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    address = device_address(flags.nics) if flags.nics else "0.0.0.0"
    if address is None:
        return fail(f"no network device {flags.nics} with an address")
    shards = []
    for i in range(flags.ports_num + flags.ports_num_for_sparse):
        try:
            listener = listen(address, flags.port + i)
        except OSError as error:
            return fail(f"listening on {address}:{flags.port + i}: {error.strerror}")
        shards.append(Shard(flags.num_gradient_servers))
        threading.Thread(target=accept, args=(listener, shards[-1]), daemon=True).start()
        log(f"listening on {address}:{flags.port + i}, {'dense' if i < flags.ports_num else 'sparse'}")
    ended.wait()
    latest = time.monotonic() + GRACE
    while time.monotonic() < latest and not all(shard.idle() for shard in shards):
        time.sleep(0.01)
    return 0
