"""What a test cluster takes from the machine: short helper programs, ports, routes, processes."""

import argparse
import ipaddress
import json
import pathlib
import shlex
import socket
import subprocess

LOOPBACK = "127.0.0.1"


class Failure(Exception):
    """What went wrong, in one line, with the end of a log below it where there is one."""


def run_tool(*argv):
    """Runs a short helper program to its end and returns what it printed."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Failure(f"needs the program '{argv[0]}'") from None
    if done.returncode != 0:
        raise Failure(f"'{shlex.join(argv)}' failed: {done.stderr.strip()}")
    return done.stdout


def hold_port(port=0):
    """Binds a port (0: any free one) without listening on it.

    As long as the socket lives nobody else is given this port, while a program of ours that also sets
    SO_REUSEPORT may bind it and listen: between choosing a port and using it nobody can take it away.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind((LOOPBACK, port))
    return held


def start_time(pid):
    """When the process started, in the kernel's ticks; None for one that ended, reaped or not."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()  # from the third on; the second may hold anything
    return None if fields[0] in "ZX" else int(fields[19])


def network(text):
    """An argument that is an IPv4 range."""
    try:
        return ipaddress.IPv4Network(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not an IPv4 range: {error}") from None


def refuse_routed(wanted):
    """Fails when a route of this machine leads into the range: packets would leave, or others lose theirs.

    Bridges are let through: there the pods of a node on this machine live.
    """
    for route in json.loads(run_tool("ip", "-4", "-j", "route", "show", "table", "main") or "[]"):
        destination = route["dst"]
        if destination == "default" or route.get("type") in ("blackhole", "unreachable", "prohibit"):
            continue
        if ipaddress.IPv4Network(destination).overlaps(wanted) and not is_bridge(route.get("dev")):
            raise Failure(f"range {wanted} is in use: this machine has a route to {destination};"
                          " choose others with --service-cidr and --pod-cidr")


def is_bridge(device):
    if device is None:  # a route with several next hops
        return False
    link = json.loads(run_tool("ip", "-d", "-j", "link", "show", "dev", device))
    return link[0].get("linkinfo", {}).get("info_kind") == "bridge"


def add_blackhole(cidr, metric):
    """Adds a route by which no packet for the range leaves. The metric tells the routes of clusters apart."""
    try:
        run_tool("ip", "-4", "route", "add", "blackhole", cidr, "metric", str(metric))
    except Failure as failure:
        if "not permitted" in str(failure):
            raise Failure("needs the right to add routes: be root, or in a network namespace of your own") from None
        raise


def remove_blackhole(cidr, metric):
    try:
        run_tool("ip", "-4", "route", "del", "blackhole", cidr, "metric", str(metric))
    except Failure as failure:
        if "No such process" not in str(failure):  # so the kernel says that there is no such route
            raise
