"""The jobs that suites create, on one machine and on Kubernetes."""


def container(command, **more):
    """The container of a rank; a command in one text is the shell's."""
    words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    return {"name": "mindspore", "image": "muster/test:latest", "command": words, **more}


def role(command, replicas=1, restart="Never", directory=None, spec=None, **more):
    """A role of one container; `directory` of the host is mounted at its own path. `spec` is more of the pod, `more` of the container."""
    main = container(command, **more)
    pod = {"containers": [main], "terminationGracePeriodSeconds": 5, **(spec or {})}
    if directory:
        pod["volumes"] = [{"name": "files", "hostPath": {"path": str(directory), "type": "DirectoryOrCreate"}}]
        main["volumeMounts"] = [{"name": "files", "mountPath": str(directory)}]
    return {"replicas": replicas, "restartPolicy": restart, "template": {"spec": pod}}


# What the Pod Security level `restricted` demands of a pod and of its containers, and what such a pod must find of itself.
RESTRICTED_POD = {"securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "runAsGroup": 2000, "seccompProfile": {"type": "RuntimeDefault"}}}
RESTRICTED_CONTAINER = {"securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                            "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}}}
TELL_RIGHTS = ("grep -E '^(Uid|Gid|CapBnd|CapEff|NoNewPrivs|Seccomp):' /proc/self/status | tr -s '\\t' ' '; "
               "touch /var/tmp/x 2>/dev/null && echo writable || echo read-only")
RESTRICTED_RIGHTS = ["Uid: 1000 1000 1000 1000", "Gid: 2000 2000 2000 2000", "CapEff: 0000000000000000", "CapBnd: 0000000000000400",
                     "NoNewPrivs: 1", "Seccomp: 2", "read-only"]


def msjob(name, policy=None, success=None, **roles):
    spec = {"msReplicaSpecs": roles}
    if policy:
        spec["runPolicy"] = policy
    if success:
        spec["successPolicy"] = success
    return {"apiVersion": "mindspore.gitee.com/v1", "kind": "MSJob", "metadata": {"name": name}, "spec": spec}


def paddle_role(command, replicas=1, directory=None, **spec):
    """A role of a PaddleJob; `spec` is more of its pods."""
    made = role(command, replicas, directory=directory, spec=spec)
    made["template"]["spec"]["containers"][0]["name"] = "paddle"
    return {"replicas": replicas, "template": made["template"]}


def paddlejob(name, policy=None, **spec):
    """`spec` are its members: roles, intranet, elastic, …"""
    if policy is not None:
        spec["cleanPodPolicy"] = policy
    return {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob", "metadata": {"name": name}, "spec": spec}


def training(name, directory, workers, *flags, restart="ExitCode", policy=None):
    """A job of muster-trainer whose ranks write to a directory of the host."""
    command = ["muster-trainer", "--checkpoint-dir", str(directory), *map(str, flags)]
    return msjob(name, policy, "AllWorkers",
                 Scheduler=role(command, 1, restart, directory),
                 Worker=role(command, workers, restart, directory))


def chainer_role(command, directory=None, **more):
    """The master of a ChainerJob, or a set of its workers; no command: as the image has it. `more` are members such as replicas."""
    pod = role(command or "", directory=directory)["template"]
    main = pod["spec"]["containers"][0]
    main["name"] = "chainer"
    if command is None:
        del main["command"]
    return {**more, "template": pod}


def chainerjob(name, master, **sets):
    spec = {"master": master}
    if sets:
        spec["workerSets"] = sets
    return {"apiVersion": "kubeflow.org/v1alpha1", "kind": "ChainerJob", "metadata": {"name": name}, "spec": spec}


def mpijob(name, program, directory=None, workers=2, **spec):
    """A T9k MPIJob with one rank in each worker; the program is the shell's. `spec` are its members: runMode, scheduler, …"""
    pod = role("", directory=directory)["template"]
    main = pod["spec"]["containers"][0]
    main["name"] = "mpi-worker"
    del main["command"]
    worker = {"replicas": workers, "cmd": ["/bin/sh", "-c", program], "extraMPIArgs": ["-N", "1", "--allow-run-as-root", "-bind-to", "none"],
              "template": pod}
    return {"apiVersion": "batch.tensorstack.dev/v1beta1", "kind": "MPIJob", "metadata": {"name": name}, "spec": {"worker": worker, **spec}}
