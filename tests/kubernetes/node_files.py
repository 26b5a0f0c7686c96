"""The configuration of a real node's programs. Each setting that is not a program's own is here because the room has no way out, holds
control groups of version 1, or may not do what a machine's own node may."""

import identities
from room import ADDRESS, NAME

PAUSE_IMAGE = "pause.test/pause:1"
POD_RANGE = "10.244.0.0/22"
KUBELET, PROXY, DNS = f"system:node:{NAME}", "system:kube-proxy", "system:coredns"
RUNTIME_SOCKET = "/run/containerd/containerd.sock"


def kubelet(cluster):
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "address": ADDRESS,
        "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                           "x509": {"clientCAFile": cluster.path("pki", "ca.crt")}},
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": f"unix://{RUNTIME_SOCKET}",
        "cgroupDriver": "cgroupfs", "failCgroupV1": False, "failSwapOn": False,
        "oomScoreAdj": 0,  # less takes CAP_SYS_RESOURCE
        "protectKernelDefaults": True, "makeIPTablesUtilChains": False,
        "clusterDNS": [ADDRESS], "clusterDomain": "cluster.local", "resolvConf": "",
        # The disk is the machine's: how full it is is none of the tests' business.
        "evictionHard": {"imagefs.available": "0%", "nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.inodesFree": "0%",
                         "memory.available": "0%"},
        "imageGCHighThresholdPercent": 100, "maxPods": 250,
        "nodeLeaseDurationSeconds": 8,  # says four times as often as usual that it is there, so tests learn sooner that it is not
        "podLogsDir": "/var/log/pods", "volumePluginDir": "/var/lib/kubelet/volume-plugins",
    }


def containerd(packages, plugins_directory):
    return f"""\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
oom_score = 0
disabled_plugins = [{", ".join(f'"io.containerd.{name}"' for name in (
    "snapshotter.v1.aufs", "snapshotter.v1.btrfs", "snapshotter.v1.devmapper", "snapshotter.v1.zfs", "internal.v1.opt",
    "tracing.processor.v1.otlp"))}]
[grpc]
  address = "{RUNTIME_SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  netns_mounts_under_state_dir = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "{packages}/usr/sbin/runc"
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{packages}/usr/lib/cni"
    conf_dir = "{plugins_directory}"
"""


def pod_network():
    """Routed and not bridged, so that answers to the address of a service come back through it."""
    return {"cniVersion": "1.0.0", "name": "pods", "plugins": [{
        "type": "ptp", "ipMasq": False, "mtu": 1500,
        "ipam": {"type": "host-local", "ranges": [[{"subnet": POD_RANGE}]], "routes": [{"dst": "0.0.0.0/0"}], "dataDir": "/run/cni"}}]}


def proxy(cluster):
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
        "mode": "nftables", "hostnameOverride": NAME,
        "clientConnection": {"kubeconfig": str(identities.kubeconfig(cluster, PROXY))},
        "clusterCIDR": cluster.state["settings"]["pod_cidr"], "detectLocalMode": "ClusterCIDR",
        # These settings are the machine's.
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        "nodePortAddresses": ["primary"],
    }


def dns(cluster):
    return f"""\
.:53 {{
    bind {ADDRESS}
    errors
    ready {ADDRESS}:8054
    kubernetes cluster.local in-addr.arpa ip6.arpa {{
        kubeconfig {identities.kubeconfig(cluster, DNS)}
        pods insecure
    }}
    cache 5
}}
"""


def rights():
    """What the built-in roles do not give: the API server's way to the kubelet, and what names are made of."""
    def binding(name, role, user):
        return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]}
    reads = {"verbs": ["list", "watch"]}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": DNS}, "rules": [
        {"apiGroups": [""], "resources": ["services", "pods", "namespaces"], **reads},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], **reads}]}
    return {"apiVersion": "v1", "kind": "List", "items": [
        binding("room-apiserver", "system:kubelet-api-admin", "kube-apiserver-kubelet-client"), role, binding("room-names", DNS, DNS)]}
