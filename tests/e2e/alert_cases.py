"""When each alert of deploy/observe fires and when it does not: cases for `promtool test rules`. kube-metrics.suite runs them, and holds their
series against what a real operator exposes."""
import collections
import json
import re
import subprocess

from checks import check, equal

# What whoever scrapes adds to each sample.
TARGET = {"namespace": "muster-system", "job": "muster-operator", "instance": "10.1.0.4:8080"}
OTHER = {**TARGET, "instance": "10.1.0.5:8080"}      # our second replica
FOREIGN = {**TARGET, "instance": "10.1.0.6:8080"}    # of somebody else, with figures of the same names
MSJOBS = "msjobs.mindspore.gitee.com"
# Values that no scrape can be expected to show.
FREE_VALUES = {("rest_client_requests_total", "code"), ("muster_build_info", "version")}

Series = collections.namedtuple("Series", "name labels target values")
# Series in steps of a minute. `minute`: when it first fires, with these labels and this summary; None: it never does within an hour.
Case = collections.namedtuple("Case", "alert what series minute labels summary")
CASES = []


def series(name, values, target=None, /, **labels):
    return Series(name, labels, target or TARGET, values)


def ours(target=None):
    return series("muster_build_info", "1x60", target, version="1.2.3")


def fires(alert, minute, what, *lines, labels=("namespace", "job"), summary, **more):
    wanted = {**{name: TARGET[name] for name in labels}, **more}
    CASES.append(Case(alert, what, lines, minute, wanted, summary))


def quiet(alert, what, *lines):
    CASES.append(Case(alert, what, lines, None, {}, ""))


quiet("MusterDown", "one of two answers", ours(), series("muster_build_info", "1x3 stale", OTHER, version="1.2.3"))
fires("MusterDown", 9, "the last one is gone", series("muster_build_info", "1x3 stale", version="1.2.3"), labels=(),
      summary="No operator of Muster answers")
fires("MusterDown", 5, "none was ever there", labels=(), summary="No operator of Muster answers")


def leads(first, second):
    return [series("leader_election_master_status", values, target, name="muster-operator")
            for values, target in ((first, TARGET), (second, OTHER))]


quiet("MusterNoLeader", "one leads", *leads("1x60", "0x60"))
quiet("MusterNoLeader", "the other takes over", *leads("1x9 0x50", "0x9 1x50"))
fires("MusterNoLeader", 11, "the leader is gone", *leads("1x9 stale", "0x60"), summary="No operator of Muster leads")
quiet("MusterTwoLeaders", "one leads", *leads("1x60", "0x60"))
fires("MusterTwoLeaders", 11, "both lead", *leads("1x60", "0x9 1x50"), summary="2 operators of Muster say that they lead")

quiet("MusterQueueNotDraining", "a minute", series("muster_workqueue_oldest_seconds", "60x60", name="muster"))
fires("MusterQueueNotDraining", 2, "more than that", series("muster_workqueue_oldest_seconds", "61x60", name="muster"),
      summary="A job has waited for 1m 1s to be looked at")


def looks(failed, of_hundred, target=None):
    return [series("controller_runtime_reconcile_errors_total", f"0+{failed}x60", target, controller=MSJOBS),
            series("controller_runtime_reconcile_total", f"0+{failed}x60", target, controller=MSJOBS, result="error"),
            series("controller_runtime_reconcile_total", f"0+{of_hundred - failed}x60", target, controller=MSJOBS, result="success")]


quiet("MusterLooksFail", "less than a fifth", ours(), *looks(19, 100))
quiet("MusterLooksFail", "those of somebody else", ours(), *looks(0, 100), *looks(100, 100, FOREIGN))
fires("MusterLooksFail", 11, "more than a fifth of ours", ours(), *looks(21, 100), *looks(0, 100, FOREIGN), controller=MSJOBS,
      summary=f"21% of the looks at {MSJOBS} fail")

quiet("MusterCreationsFail", "none since long ago", series("muster_creations_failed_total", "7x60", kind="Pod"))
fires("MusterCreationsFail", 16, "again and again", series("muster_creations_failed_total", "0x9 0+1x50", kind="Pod"), kind="Pod",
      summary="Pod objects of jobs cannot be created")


def requests(failed, good, target=None):
    """Of the failed ones some of each sort; what does not exist is no failure."""
    return [*(series("rest_client_requests_total", f"0+{number}x60", target, code=code, method="GET")
              for code, number in zip(("429", "503", "<error>"), failed)),
            series("rest_client_requests_total", f"0+{good / 2}x60", target, code="200", method="GET"),
            series("rest_client_requests_total", f"0+{good / 2}x60", target, code="404", method="GET")]


quiet("MusterApiErrors", "four in a hundred", ours(), *requests((1, 1, 2), 96))
quiet("MusterApiErrors", "those of somebody else", ours(), *requests((0, 0, 0), 100), *requests((50, 50, 50), 2, FOREIGN))
for number, name in enumerate(("too many", "broken", "not reachable")):
    fires("MusterApiErrors", 11, f"six in a hundred of ours, {name}", ours(), *requests([6 if at == number else 0 for at in range(3)], 94),
          *requests((0, 0, 0), 100, FOREIGN), summary="6% of the requests to the API server fail")


def watch(name, values, resource="pods"):
    return series(f"muster_reflector_{name}", values, resource=resource, version="v1")


OF_WATCH = {"labels": tuple(TARGET), "resource": "pods", "version": "v1"}
quiet("MusterWatchFails", "for four minutes", watch("in_trouble", "0x9 1x4 0x40"))
# What need not be there has no figure for its trouble.
quiet("MusterWatchFails", "a CRD is not installed", watch("in_trouble", "0x60"),
      series("muster_kind_waits_for_crd", "1x60", kind=MSJOBS, version="v1"), watch("failures_total", "0+5x60", MSJOBS))
fires("MusterWatchFails", 15, "a right is missing", watch("in_trouble", "0x9 1x50"), summary="pods cannot be listed or watched", **OF_WATCH)
quiet("MusterWatchSilent", "a list every ten minutes", watch("last_news_timestamp_seconds", "1x9 601x9 1201x9 1801x9 2401x9 3001x9"))
quiet("MusterWatchSilent", "nothing ever, which is another alert's", watch("last_news_timestamp_seconds", "0x60"))
fires("MusterWatchSilent", 17, "the last word is old", watch("last_news_timestamp_seconds", "30x60"),
      summary="Nothing was heard of pods for 16m 30s", **OF_WATCH)

quiet("MusterLoopStalls", "five in ten minutes", series("muster_loop_stalls_total", "0 " + " ".join(f"{n} {n}" for n in range(30))))
fires("MusterLoopStalls", 11, "ten in ten minutes", series("muster_loop_stalls_total", "0+1x60"), labels=tuple(TARGET),
      summary="The operator stood still 10 times for more than 0.1 s")
quiet("MusterLoopBusy", "53 s of each minute", series("muster_loop_busy_seconds_total", "0+53x60"))
fires("MusterLoopBusy", 15, "57 s of each minute", series("muster_loop_busy_seconds_total", "0+57x60"), labels=tuple(TARGET),
      summary="The operator's loop is busy 95% of the time")


def restarts(a_minute, target=None):
    return series("training_operator_jobs_restarted_total", f"0+{a_minute}x60", target, framework="mindspore", job_namespace="default")


quiet("MusterRestartStorm", "15 in a quarter of an hour", ours(), restarts(1))
quiet("MusterRestartStorm", "those of somebody else", ours(), restarts(100, FOREIGN))
fires("MusterRestartStorm", 16, "30 in a quarter of an hour", ours(), restarts(2), labels=("namespace",), framework="mindspore",
      job_namespace="default", summary="Jobs of mindspore in default restarted 30 times in 15 minutes")


def parts_of(text):
    """Alert → its severity and description, as the file has them."""
    return {name: (severity, description) for name, severity, description in
            re.findall(r"- alert: (\w+)\n.*?severity: (\w+).*?description: (.*?)\n", text, re.S)}


def in_promtools_words(case, severity, description):
    labels = [{**one.labels, **one.target} for one in case.series]
    lines = [{"series": one.name + json.dumps(each).replace('": "', '="').replace(', "', ", ").replace('{"', "{"), "values": one.values}
             for one, each in zip(case.series, labels)]
    alert = {"exp_labels": {**case.labels, "severity": severity}, "exp_annotations": {"summary": case.summary, "description": description}}
    if case.minute is None:
        looks_at = [(minute, []) for minute in range(61)]
    else:
        looks_at = [*((minute, []) for minute in range(case.minute)), (case.minute, [alert])]
    return {"name": f"{case.alert}: {case.what}", "interval": "1m", "input_series": lines,
            "alert_rule_test": [{"eval_time": f"{minute}m", "alertname": case.alert, "exp_alerts": alerts} for minute, alerts in looks_at]}


def run(alerts, directory):
    """Every alert fires when it should, says what it should, and is quiet until then and otherwise; how many cases there are."""
    parts = parts_of(alerts.read_text())
    for wanted in (lambda case: case.minute is None, lambda case: case.minute is not None):
        equal({case.alert for case in CASES if wanted(case)}, set(parts), "alerts with a case where they fire, and with one where they do not")
    tests = directory / "alert-tests.json"  # JSON is YAML
    tests.write_text(json.dumps({"rule_files": [str(alerts)], "evaluation_interval": "1m",
                                 "tests": [in_promtools_words(case, *parts[case.alert]) for case in CASES]}))
    done = subprocess.run(["promtool", "test", "rules", tests], text=True, capture_output=True, check=False)
    check(done.returncode == 0, (done.stdout + done.stderr)[:4000])
    return len(CASES)


def samples(pages):
    """Name → the sets of labels that were scraped."""
    found = collections.defaultdict(list)
    for line in "\n".join(pages).splitlines():
        sample = re.match(r"(\w+)(?:\{(.*)\})? \S+$", line)
        if sample:
            found[sample[1]].append(dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', sample[2] or "")))
    return found


def are_of(pages):
    """The series of all cases are such as operators really expose: by name, by the names of their labels, and by the values of these."""
    real = samples(pages)
    for one in {(one.name, tuple(sorted(one.labels.items()))): one for case in CASES for one in case.series}.values():
        def same(seen, one=one):
            return set(seen) == set(one.labels) and all(seen[label] == value for label, value in one.labels.items()
                                                        if (one.name, label) not in FREE_VALUES)
        check(any(same(seen) for seen in real[one.name]), f"no operator exposes {one.name} with {one.labels}, but {real[one.name][:5]}")
