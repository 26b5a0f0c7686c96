"""Which checks run at once, and which suite belongs where.

A suite that looks at the machine, or that changes what is the machine's own (bridges, routes, rules), runs when no other of that sort does. One that is
apart has a network of its own, and a folder for the examples' checkpoints: it meets nobody. A suite that measures how long something takes runs alone.
"""
import collections
import concurrent.futures
import functools
import os
import threading

# Those that are told apart by their homes alone: no whole machine is looked at, and what they need is fetched before them.
APART = {"agent", "agent-mpi", "frameworks", "local-bad-input", "local-chainer", "local-help", "local-jobs", "local-kinds", "local-log-format",
         "local-logs", "local-paddle", "local-pause", "local-podspec", "local-restart", "local-run", "local-seeds", "local-submit", "local-t9k",
         "local-verbs"}
# The slowest answer under load; the second in which another plane is there; screens as they are after so long; what an operator asks for within 20 s.
ALONE = {"kube-rights", "local-load", "local-share", "local-screen"}


def lane_of(suite):
    """alone, apart or machine, which is where a suite belongs of which nothing is known."""
    if suite in ALONE:
        return "alone"
    return "apart" if suite in APART or suite.startswith("kube") and suite != "kubernetes-node-selftest" else "machine"


Task = collections.namedtuple("Task", "name after run")


class Lanes:
    """Checks in lanes: each lane is run in order, all of them at once. What is apart is taken up by whoever is free."""

    def __init__(self):
        self.queues = collections.defaultdict(list)
        self.changed = threading.Condition()
        self.ended = {None}

    def add(self, lane, function, name, *arguments, after=None, **options):
        """A check; one that is `after` another waits for its end, others of its lane go first."""
        self.queues[lane].append(Task(name, after, functools.partial(function, name, *arguments, **options)))

    def run(self):
        """Until everything has ended. One suite more runs at once than the machine has processors: they wait for most of their time. Where a change
        is judged (CI), which has the time, one at once: who is slow beside others does not decide then."""
        beside = 0 if os.environ.get("CI") else min(8, max(2, os.cpu_count()))
        lanes = [["computing"], ["machine", "apart"], *[["apart"]] * beside]
        with concurrent.futures.ThreadPoolExecutor(len(lanes)) as pool:
            for done in [pool.submit(self.drain, lane) for lane in lanes]:
                done.result()
        self.drain(["alone"])

    def drain(self, lanes):
        while task := self.next_of(lanes):
            try:
                task.run()
            finally:
                with self.changed:
                    self.ended.add(task.name)
                    self.changed.notify_all()

    def next_of(self, lanes):
        with self.changed:
            while True:
                waiting = [(lane, task) for lane in lanes for task in self.queues[lane]]
                for lane, task in waiting:
                    if task.after in self.ended:
                        self.queues[lane].remove(task)
                        return task
                if not waiting:
                    return None
                self.changed.wait()


def pooled(tasks):
    """Runs functions, as many at once as the machine has processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in [pool.submit(task) for task in tasks]:
            done.result()
