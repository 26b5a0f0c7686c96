"""What becomes of the blocks in the document of T9k's MPIJob."""
import os
import pathlib

from checks import check, conditions, contains, equal, stays, wait_until
from frameworks.rows import NONE_LOST, WALKED
from local_support import MPIJOBS, find_all, home

HERE = pathlib.Path(__file__).resolve().parent
JOB = f"{MPIJOBS}/mpi-example"


def walk(environments):
    """Block 1, as it is written: five workers with three ranks each."""
    environments.program("random_walk")
    with home() as it:
        ended = run(it, environments, "mpijob").expect(0)
        contains(ended.err, "Succeeded  mpi-example", "what run says")
        equal(len(WALKED.findall(ended.out)), 15, f"ranks in {ended.out[-2000:]!r}")
        equal(NONE_LOST.findall(ended.out), [("30", "30")], "walkers")
        left = [pod["metadata"]["name"] for pod in it.json("pods")["items"]]
        equal(left, ["mpi-example-launcher"], "pods after the end: cleanUpWorkers")
        ended_well(it.json("mpijobs", "mpi-example")["status"])


def ended_well(seen):
    """Blocks 10 and 11: tasks and aggregate."""
    equal(seen["phase"], "Succeeded", "phase")
    tasks = {task["type"]: task for task in seen["tasks"]}
    equal(sorted(tasks), ["launcher", "worker"], "tasks")
    launcher = tasks["launcher"]["replicas"]
    equal([(one["name"], one["phase"]) for one in launcher], [("mpi-example-launcher", "Succeeded")], "launcher")
    check(launcher[0]["uid"], "the launcher has no uid")
    equal([one["name"] for one in tasks["worker"]["replicas"]], [f"mpi-example-worker-{index}" for index in range(5)], "workers")
    equal({task["restartCount"] for task in tasks.values()}, {0}, "restarts")
    equal(seen["aggregate"], {"creating": 0, "deleted": 5, "failed": 0, "pending": 0, "running": 0, "succeeded": 1, "unknown": 0}, "aggregate")


def horovod(environments):
    """Block 2, completed: variables and MCA parameters reach the ranks."""
    told(environments, "mpijob-horovod", 2, "NCCL_DEBUG INFO, pml ob1, btl ^openib")


def shared_memory(environments):
    """Block 4, completed."""
    told(environments, "mpijob-shared-memory", 4, "shared memory of 1024M")


def environment(environments):
    """Block 5, completed: a value, and one from a Secret."""
    told(environments, "mpijob-environment", 4, "env-value from-the-secret")


def told(environments, manifest, ranks, text):
    """Every rank says that."""
    with home() as it:
        ended = run(it, environments, manifest).expect(0)
        seen = find_all(r"\(rank (\d+): (.*?)\)", ended.out)  # in brackets: mpirun mixes lines of several ranks
        equal(sorted(seen), [(str(rank), text) for rank in range(ranks)], f"what ranks say in {ended.out[-1000:]!r}")


def resources(environments):
    """Block 3, completed: two cores for each of four workers and the launcher. Where there are fewer it is refused with the reason; a tenth of it runs."""
    with home() as it:
        if os.cpu_count() >= 10:
            here(run(it, environments, "mpijob-resources"), 4)
        else:
            ended = run(it, environments, "mpijob-resources").expect(125)
            contains(ended.err, "Insufficient cpu. All 5 pods must fit together. They can never fit on this machine: 10 cpu asked for", "why not")
        less = (HERE / "mpijob-resources.yaml").read_text()
        for asked, given in (("cpu: 4", "cpu: 400m"), ("cpu: 2", "cpu: 200m"), ("4Gi", "400Mi"), ("2Gi", "200Mi")):
            contains(less, asked, "the manifest")
            less = less.replace(asked, given)
        here(it.muster("run", it.write(less), "--images", images(environments), limit=180), 4)


def scheduler(environments):
    """Block 6, completed: the job waits in its queue, and runs."""
    with home() as it:
        here(run(it, environments, "mpijob-scheduler"), 2)
        labels = [pod["metadata"]["labels"] for pod in it.json("pods")["items"]]
        equal({label.get("scheduler.tensorstack.dev/queue") for label in labels}, {"default"}, "queue of the pods")
        equal({label.get("scheduler.tensorstack.dev/group-name") for label in labels}, {"mpi-example"}, "group of the pods")


def debug_with_command(environments):
    """Block 7, first example: workers run the command and skip their init container, the launcher sleeps."""
    debug(environments, "mpijob-debug-command", {"prepare"}, "sleep inf")


def debug_by_default(environments):
    """Block 7, second example: workers keep their init container."""
    debug(environments, "mpijob-debug", set(), None)


def debug(environments, manifest, skipped, command):
    with home() as it:
        it.up("--images", images(environments))
        create(it, manifest)
        running(it)
        pods = {pod["metadata"]["name"]: pod["spec"] for pod in it.pods()}
        equal(sorted(pods), ["mpi-example-launcher", "mpi-example-worker-0", "mpi-example-worker-1"], "pods")
        for name, spec in pods.items():
            main = spec["containers"][0]
            words = " ".join([*main.get("command", []), *main.get("args", [])])
            if name == "mpi-example-launcher":
                equal(words, "sleep inf", f"command of {name}")
                continue
            inits = {one["name"] for one in spec.get("initContainers", [])}
            equal("prepare" in inits, "prepare" not in skipped, f"init containers of {name}: {inits}")
            if command:
                check(words.endswith(command), f"command of {name}: {words}")
        stays(lambda: it.get(JOB)["status"]["phase"], "phase", seconds=1)


def paused(environments):
    """Block 8, second example: nothing runs until it is resumed; then it runs to its end."""
    with home() as it:
        it.up("--images", images(environments))
        followed = create(it, "mpijob-pause")
        phase(it, "Paused")
        equal(it.pods(), [], "pods of a paused job")
        equal(conditions(it.get(JOB))["Paused"]["status"], "True", "Paused")
        resume(it)
        here(it.ended(followed, 120), 2)
        equal(conditions(it.get(JOB))["Paused"]["status"], "False", "Paused")


def paused_with_resume_specs(environments):
    """Block 8, first example: workers resume without their init container, and wait for the launcher, which is what sshd would do; it cannot
    be changed."""
    with home() as it:
        it.up("--images", images(environments))
        followed = create(it, "mpijob-pause-resume")
        phase(it, "Paused")
        job = it.get(JOB)
        job["spec"]["runMode"]["pause"]["resumeSpecs"][0]["command"] = ["/usr/sbin/sshd"]
        status, answer = it.api("PUT", JOB, job)
        equal(status, 422, f"status of a changed resumeSpecs: {answer}")
        resume(it)
        worker = wait_until(lambda: next((pod for pod in it.pods() if pod["metadata"]["name"] == "mpi-example-worker-0"), None), "a worker")
        main = worker["spec"]["containers"][0]
        equal(main["command"], ["/muster/bin/muster-agent", "run"], "command of a worker")
        check("prepare" not in {one["name"] for one in worker["spec"]["initContainers"]}, "the init container is still there")
        here(it.ended(followed, 120), 2)


def failed(environments):
    """Block 9: the conditions of a job whose program fails. Completed is True, as the document says and its sample does not."""
    text = (HERE / "mpijob-scheduler.yaml").read_text().replace('is here)"', 'gives up)"; exit 3')
    with home() as it:
        it.muster("run", it.write(text), "--images", images(environments), limit=120).expect(3)
        seen = it.json("mpijobs", "mpi-example")
        equal(seen["status"]["phase"], "Failed", "phase")
        held = {kind: (one["status"], one["reason"]) for kind, one in conditions(seen).items()}
        equal(held["Initialized"], ("True", "-"), "Initialized")
        equal(held["Completed"], ("True", "Failed"), "Completed")
        equal(held["Failed"], ("True", "Failed"), "Failed")
        contains(conditions(seen)["Failed"]["message"], "The job exited with an error code.", "message")


# --- words of these tests

def images(environments):
    return environments.examples / "t9k/images.yaml"


def run(it, environments, manifest):
    return it.muster("run", HERE / f"{manifest}.yaml", "--images", images(environments), limit=180)


def here(ended, ranks):
    """The job ended well, and so many ranks said that they were there."""
    seen = find_all(r"\(rank (\d) is here\)", ended.expect(0).out)
    equal(sorted(map(int, seen)), list(range(ranks)), f"ranks in {ended.out[-1000:]!r}")


def create(it, manifest):
    """The `muster run` that follows it."""
    return it.start("run", HERE / f"{manifest}.yaml")


def resume(it):
    def done():
        job = it.get(JOB)
        job["spec"]["runMode"]["pause"]["enabled"] = False
        return it.api("PUT", JOB, job)[0] == 200
    wait_until(done, "the resume to be stored")


def phase(it, wanted):
    def reached():
        status, job = it.api("GET", JOB)
        return status == 200 and job.get("status", {}).get("phase") == wanted
    wait_until(reached, f"phase {wanted}", limit=120)


def running(it):
    phase(it, "Running")
    wait_until(lambda: len(it.pods()) == 3 and all(pod["status"]["phase"] == "Running" for pod in it.pods()), "three running pods")
