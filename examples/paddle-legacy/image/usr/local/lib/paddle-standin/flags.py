"""Flags as --name=value; the last one counts, an unknown one is an error."""
import sys

KNOWN = {
    # name: (type, what holds without it)
    "port": (int, 7164),
    "ports_num": (int, 1),
    "ports_num_for_sparse": (int, 0),
    "nics": (str, ""),
    "num_gradient_servers": (int, 1),
    "comment": (str, ""),
    "pservers": (str, "127.0.0.1"),
    "trainer_id": (int, 0),
    "trainer_count": (int, 1),
    "config": (str, ""),
    "save_dir": (str, ""),
    "num_passes": (int, 1),
    "saving_period": (int, 1),
    "log_period": (int, 100),
    "dot_period": (int, 1),
    "local": (int, 1),
    "use_gpu": (int, 0),
}


class Flags:
    """Every known flag as an attribute."""

    def __init__(self, words):
        for name, (_, otherwise) in KNOWN.items():
            setattr(self, name, otherwise)
        for word in words:
            name, equals, value = word.removeprefix("--").partition("=")
            if not word.startswith("--") or not equals or name not in KNOWN:
                raise SystemExit(f"paddle: unknown flag {word!r}")
            try:
                setattr(self, name, KNOWN[name][0](value))
            except ValueError:
                raise SystemExit(f"paddle: {word}: not a number") from None


def log(text):
    print(text, flush=True)


def fail(text):
    print(f"paddle: {text}", file=sys.stderr, flush=True)
    return 1
