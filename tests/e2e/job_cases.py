"""The lives of batch/v1 Jobs, step by step: what is done to a Job and its pods, and what is seen after that. The same table is
played on the embedded cluster and under Kubernetes' own Job controller (kube-jobs.suite)."""
import dataclasses


@dataclasses.dataclass
class Seen:
    """A Job and its pods as a step should leave them; what is not named is not there.

    A pod is a letter, behind its index where it has one: P pending, R running, S succeeded, F failed, and a ! while it goes.
    """
    pods: str = ""
    active: int = 0
    ready: int = 0
    terminating: int = 0
    succeeded: int = 0
    failed: int = 0
    indexes: str = ""
    conditions: tuple = ()
    started: bool = True
    completed: bool = False


def see(pods="", **what):
    return ("see", Seen(pods, **what))


COMPLETE = (("SuccessCriteriaMet", "True", "CompletionsReached"), ("Complete", "True", "CompletionsReached"))
SUSPENDED = (("Suspended", "True", "JobSuspended"),)
RESUMED = (("Suspended", "False", "JobResumed"),)


def failed_because(reason):
    return (("FailureTarget", "True", reason), ("Failed", "True", reason))


BACKOFF = failed_because("BackoffLimitExceeded")
DEADLINE = failed_because("DeadlineExceeded")


def complete(pods, succeeded, **what):
    return see(pods, succeeded=succeeded, completed=True, conditions=what.pop("before", ()) + COMPLETE, **what)


def run(*which):
    """Pods begin to run: by index, or as many as there are numbers."""
    return ("run", which)


def succeed(*which):
    return ("succeed", which)


def fail(*which):
    return ("fail", which)


def restart(times):
    """The container of the first pod was started again so often."""
    return ("restart", times)


def delete(*which):
    """Somebody deletes living pods."""
    return ("delete", which)


def delete_ended(letter):
    """Somebody deletes all pods that ended so."""
    return ("delete_ended", letter)


def gone():
    """Nodes have stopped what was deleted."""
    return ("gone", None)


def edit(**spec):
    return ("edit", spec)


def at_once():
    """Pods that come next come without a pause after the last failure."""
    return ("pause", (-2, 8))


def after(seconds):
    """The pod that was made last came so long after the last failure."""
    return ("pause", (seconds - 2, seconds + 20))


def vanishes():
    return ("vanishes", None)


ANY = "any"  # a pod, whichever

CASES = {
    # --- completions and parallelism
    "one pod": ({}, see("P", active=1), run(ANY), see("R", active=1, ready=1), succeed(ANY), complete("S", 1)),
    "three in turn": ({"completions": 3, "parallelism": 1},
                      see("P", active=1), succeed(ANY), see("P S", active=1, succeeded=1), succeed(ANY),
                      see("P S S", active=1, succeeded=2), succeed(ANY), complete("S S S", 3)),
    "five, two at once": ({"completions": 5, "parallelism": 2},
                          see("P P", active=2), succeed(ANY), see("P P S", active=2, succeeded=1), succeed(ANY, ANY),
                          see("P P S S S", active=2, succeeded=3), succeed(ANY), see("P S S S S", active=1, succeeded=4),
                          succeed(ANY), complete("S S S S S", 5)),
    "more at once than there are": ({"completions": 2, "parallelism": 5},
                                    see("P P", active=2), succeed(ANY, ANY), complete("S S", 2)),
    "nothing to complete": ({"completions": 0, "parallelism": 2}, complete("", 0)),
    "nobody at once, then two": ({"completions": 2, "parallelism": 0},
                                 see(""), edit(parallelism=2), see("P P", active=2), succeed(ANY, ANY), complete("S S", 2)),
    "scaled up": ({"completions": 4, "parallelism": 1},
                  see("P", active=1), edit(parallelism=3), see("P P P", active=3), succeed(ANY, ANY, ANY),
                  see("P S S S", active=1, succeeded=3), succeed(ANY), complete("S S S S", 4)),
    "scaled down": ({"completions": 4, "parallelism": 3},
                    see("P P P", active=3), run(ANY), see("P P R", active=3, ready=1), edit(parallelism=1),
                    see("R", active=1, ready=1), succeed(ANY), see("P S", active=1, succeeded=1)),
    # --- failures
    "tried again": ({}, see("P", active=1), run(ANY), see("R", active=1, ready=1), fail(ANY), see("F", failed=1),
                    see("F P", active=1, failed=1), after(10), succeed(ANY), complete("F S", 1, failed=1)),
    "no failure allowed": ({"backoffLimit": 0}, see("P", active=1), fail(ANY), see("F", failed=1, conditions=BACKOFF)),
    "one failure too many": ({"backoffLimit": 1, "completions": 2, "parallelism": 2},
                             see("P P", active=2), fail(ANY, ANY), see("F F", failed=2, conditions=BACKOFF)),
    "the others go when it fails": ({"backoffLimit": 0, "completions": 3, "parallelism": 3},
                                    see("P P P", active=3), run(ANY, ANY), see("P R R", active=3, ready=2), fail(ANY),
                                    see("F", failed=3, conditions=BACKOFF)),
    "what succeeded stays when it fails": ({"backoffLimit": 0, "completions": 3, "parallelism": 2},
                                           see("P P", active=2), succeed(ANY), see("P P S", active=2, succeeded=1), fail(ANY),
                                           see("F S", succeeded=1, failed=2, conditions=BACKOFF)),
    "a success ends the pause": ({"completions": 3, "parallelism": 2},
                                 see("P P", active=2), fail(ANY), see("F P", active=1, failed=1), succeed(ANY),
                                 see("F P P S", active=2, succeeded=1, failed=1), at_once(), succeed(ANY, ANY),
                                 complete("F S S S", 3, failed=1)),
    "two failures hold back longer": ({"completions": 2, "parallelism": 2},
                                      see("P P", active=2), fail(ANY, ANY), see("F F", failed=2),
                                      see("F F P P", active=2, failed=2), after(20), succeed(ANY, ANY),
                                      complete("F F S S", 2, failed=2)),
    # --- pods that somebody takes away
    "a waiting pod is deleted": ({}, see("P", active=1), delete(ANY), see("", failed=1), see("P", active=1, failed=1),
                                 succeed(ANY), complete("S", 1, failed=1)),
    "a running pod is deleted": ({"node": "player"},
                                 see("P", active=1), run(ANY), see("R", active=1, ready=1), delete(ANY),
                                 see("R!", terminating=1, failed=1), gone(), see("", failed=1),
                                 see("P", active=1, failed=1), succeed(ANY), complete("S", 1, failed=1)),
    "the last try is deleted": ({"backoffLimit": 0}, see("P", active=1), delete(ANY), see("", failed=1, conditions=BACKOFF)),
    "a succeeded pod is deleted": ({"completions": 2, "parallelism": 1},
                                   see("P", active=1), succeed(ANY), see("P S", active=1, succeeded=1), delete_ended("S"),
                                   see("P", active=1, succeeded=1), succeed(ANY), complete("S", 2)),
    "a failed pod is deleted": ({"completions": 2, "parallelism": 2},
                                see("P P", active=2), fail(ANY), see("F P", active=1, failed=1), delete_ended("F"),
                                see("P", active=1, failed=1), succeed(ANY), see("P S", active=1, succeeded=1, failed=1),
                                succeed(ANY), complete("S S", 2, failed=1)),
    # --- Indexed
    "indexed": ({"completionMode": "Indexed", "completions": 3, "parallelism": 3},
                see("0P 1P 2P", active=3), succeed(1), see("0P 1S 2P", active=2, succeeded=1, indexes="1"), succeed(0),
                see("0S 1S 2P", active=1, succeeded=2, indexes="0,1"), succeed(2), complete("0S 1S 2S", 3, indexes="0-2")),
    "indexed, two at once": ({"completionMode": "Indexed", "completions": 4, "parallelism": 2},
                             see("0P 1P", active=2), succeed(1), see("0P 1S 2P", active=2, succeeded=1, indexes="1"), succeed(2),
                             see("0P 1S 2S 3P", active=2, succeeded=2, indexes="1,2"), succeed(0, 3),
                             complete("0S 1S 2S 3S", 4, indexes="0-3")),
    "an index is tried again": ({"completionMode": "Indexed", "completions": 3, "parallelism": 3},
                                see("0P 1P 2P", active=3), fail(1), see("0P 1F 2P", active=2, failed=1), succeed(0, 2),
                                see("0S 1F 1P 2S", active=1, succeeded=2, failed=1, indexes="0,2"), succeed(1),
                                complete("0S 1F 1S 2S", 3, failed=1, indexes="0-2")),
    "an index is deleted": ({"completionMode": "Indexed", "completions": 2, "parallelism": 2},
                            see("0P 1P", active=2), delete(0), see("1P", active=1, failed=1), succeed(1),
                            see("0P 1S", active=1, succeeded=1, failed=1, indexes="1"), succeed(0),
                            complete("0S 1S", 2, failed=1, indexes="0,1")),
    "indexed, scaled down": ({"completionMode": "Indexed", "completions": 3, "parallelism": 3},
                             see("0P 1P 2P", active=3), run(1), see("0P 1R 2P", active=3, ready=1), edit(parallelism=1),
                             see("1R", active=1, ready=1), succeed(1), see("0P 1S", active=1, succeeded=1, indexes="1")),
    "elastic, larger": ({"completionMode": "Indexed", "completions": 2, "parallelism": 2},
                        see("0P 1P", active=2), edit(completions=3, parallelism=3), see("0P 1P 2P", active=3), succeed(0, 1, 2),
                        complete("0S 1S 2S", 3, indexes="0-2")),
    "elastic, smaller": ({"completionMode": "Indexed", "completions": 3, "parallelism": 3},
                         see("0P 1P 2P", active=3), edit(completions=2, parallelism=2), see("0P 1P", active=2), succeed(0, 1),
                         complete("0S 1S", 2, indexes="0,1")),
    # --- work queues
    "work queue": ({"parallelism": 3},
                   see("P P P", active=3), succeed(ANY), see("P P S", active=2, succeeded=1), succeed(ANY),
                   see("P S S", active=1, succeeded=2), succeed(ANY), complete("S S S", 3)),
    "work queue, a failure after the first success": ({"parallelism": 2},
                                                      see("P P", active=2), succeed(ANY), see("P S", active=1, succeeded=1),
                                                      fail(ANY), complete("F S", 1, failed=1)),
    "work queue, a failure before": ({"parallelism": 2},
                                     see("P P", active=2), fail(ANY), see("F P", active=1, failed=1),
                                     see("F P P", active=2, failed=1), succeed(ANY, ANY), complete("F S S", 2, failed=1)),
    "work queue, no failure allowed": ({"parallelism": 2, "backoffLimit": 0},
                                       see("P P", active=2), succeed(ANY), see("P S", active=1, succeeded=1), fail(ANY),
                                       see("F S", succeeded=1, failed=1, conditions=BACKOFF)),
    "work queue, smaller": ({"parallelism": 3},
                            see("P P P", active=3), run(ANY), see("P P R", active=3, ready=1), edit(parallelism=1),
                            see("R", active=1, ready=1), succeed(ANY), complete("S", 1)),
    # --- suspension
    "created suspended": ({"suspend": True}, see("", conditions=SUSPENDED, started=False)),
    "created suspended, resumed": ({"suspend": True, "completions": 2, "parallelism": 2},
                                   see("", conditions=SUSPENDED, started=False), edit(suspend=False),
                                   see("P P", active=2, conditions=RESUMED), succeed(ANY, ANY), complete("S S", 2, before=RESUMED)),
    "suspended while it runs": ({"completions": 2, "parallelism": 2},
                                see("P P", active=2), run(ANY, ANY), see("R R", active=2, ready=2), edit(suspend=True),
                                see("", conditions=SUSPENDED, started=False), edit(suspend=False),
                                see("P P", active=2, conditions=RESUMED), succeed(ANY, ANY), complete("S S", 2, before=RESUMED)),
    "suspension keeps what has ended": ({"completionMode": "Indexed", "completions": 3, "parallelism": 2},
                                        see("0P 1P", active=2), succeed(0), see("0S 1P 2P", active=2, succeeded=1, indexes="0"),
                                        fail(1), see("0S 1F 2P", active=1, succeeded=1, failed=1, indexes="0"), edit(suspend=True),
                                        see("0S 1F", succeeded=1, failed=1, indexes="0", conditions=SUSPENDED, started=False),
                                        edit(suspend=False),
                                        see("0S 1F 1P 2P", active=2, succeeded=1, failed=1, indexes="0", conditions=RESUMED),
                                        succeed(1, 2), complete("0S 1F 1S 2S", 3, failed=1, indexes="0-2", before=RESUMED)),
    "pods stop while it is suspended": ({"node": "player"},
                                        see("P", active=1), run(ANY), see("R", active=1, ready=1), edit(suspend=True),
                                        see("R!", terminating=1, conditions=SUSPENDED, started=False), gone(),
                                        see("", conditions=SUSPENDED, started=False)),
    # --- limits
    "deadline": ({"activeDeadlineSeconds": 20, "completions": 2, "parallelism": 2},
                 see("P P", active=2), succeed(ANY), see("P S", active=1, succeeded=1),
                 see("S", succeeded=1, failed=1, conditions=DEADLINE)),
    "deadline, nobody runs": ({"activeDeadlineSeconds": 20, "completions": 1, "parallelism": 0},
                              see(""), see("", conditions=DEADLINE)),
    "deadline waits for pods to stop": ({"activeDeadlineSeconds": 20, "node": "player"},
                                        see("P", active=1), run(ANY), see("R", active=1, ready=1),
                                        see("R!", terminating=1, failed=1, conditions=DEADLINE[:1]), gone(),
                                        see("", failed=1, conditions=DEADLINE)),
    "suspension stops the clock": ({"activeDeadlineSeconds": 20, "completions": 2, "parallelism": 1},
                                   see("P", active=1), edit(suspend=True), see("", conditions=SUSPENDED, started=False),
                                   edit(suspend=False), see("P", active=1, conditions=RESUMED),
                                   see("", failed=1, conditions=RESUMED + DEADLINE)),
    "gone after its end": ({"ttlSecondsAfterFinished": 1}, see("P", active=1), succeed(ANY), vanishes()),
    # --- restarts in place
    "restarted in place": ({"restart": "OnFailure", "backoffLimit": 3},
                           see("P", active=1), run(ANY), see("R", active=1, ready=1), restart(2), succeed(ANY), complete("S", 1)),
    "restarted too often": ({"restart": "OnFailure", "backoffLimit": 3},
                            see("P", active=1), run(ANY), see("R", active=1, ready=1), restart(3),
                            see("", failed=1, conditions=BACKOFF)),
    "no restart allowed": ({"restart": "OnFailure", "backoffLimit": 0},
                           see("P", active=1), run(ANY), see("R", active=1, ready=1), restart(1),
                           see("", failed=1, conditions=BACKOFF)),
    # --- others
    "somebody else's": ({"managedBy": "example.org/other"}, see("", started=False)),
}
