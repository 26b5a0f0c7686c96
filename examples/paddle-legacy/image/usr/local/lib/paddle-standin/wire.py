"""Messages between trainers and PServers: a few named facts, and numbers."""
import array
import json
import struct

LENGTHS = struct.Struct("<II")
MOST = 1 << 26


def send(connection, facts, numbers=()):
    text, data = json.dumps(facts).encode(), array.array("d", numbers).tobytes()
    connection.sendall(LENGTHS.pack(len(text), len(data)) + text + data)


def receive(connection):
    """Facts and numbers; None when the peer has gone."""
    head = read(connection, LENGTHS.size)
    if head is None:
        return None
    text_length, data_length = LENGTHS.unpack(head)
    if text_length + data_length > MOST:
        raise ConnectionError("a message that is too long")
    body = read(connection, text_length + data_length)
    if body is None:
        return None
    numbers = array.array("d")
    numbers.frombytes(body[text_length:])
    return json.loads(body[:text_length]), numbers


def read(connection, size):
    parts = []
    while size > 0:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
