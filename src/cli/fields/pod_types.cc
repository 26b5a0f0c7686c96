#include "cli/fields/kubernetes_types.h"

// Pods as Kubernetes 1.36 knows them.
namespace muster::cli {

const std::string_view kPodTypes = R"(
Pod A group of containers on one node.
  apiVersion string v1.
  kind string Pod.
  metadata ObjectMeta
  spec PodSpec What is to run.
  status any What became of it; written by the node.

PodTemplateSpec The pods that are made of it.
  metadata ObjectMeta Labels, annotations and finalizers of the pods.
  spec PodSpec What each of them runs.

PodSpec What a pod runs, and where.
  activeDeadlineSeconds integer Seconds after its start at which the pod fails.
  affinity Affinity Which nodes, and which neighbours, it prefers or needs.
  automountServiceAccountToken boolean Whether the containers get a token for the API. Default true.
  containers []Container What runs side by side; at least one.
  dnsConfig PodDNSConfig Name servers beside those of dnsPolicy.
  dnsPolicy string ClusterFirst, ClusterFirstWithHostNet, Default or None.
  enableServiceLinks boolean Whether services of the namespace become variables. Default true.
  ephemeralContainers []any Containers for debugging; added to a pod that runs.
  hostAliases []HostAlias Further lines of /etc/hosts.
  hostIPC boolean Whether it shares shared memory and semaphores with the node.
  hostNetwork boolean Whether it is in the node's own network.
  hostPID boolean Whether it sees the processes of the node.
  hostUsers boolean False: users in it are others than those of the node.
  hostname string What it takes itself for. Default: its name.
  hostnameOverride string The same, whatever else says so.
  imagePullSecrets []LocalObjectReference Secrets for the registries of its images.
  initContainers []Container What runs before the others, one after the other.
  nodeName string The node that runs it; the scheduler writes it.
  nodeSelector {}string Labels that a node must have.
  os PodOS The operating system it needs.
  overhead {}quantity What it takes beside its containers.
  preemptionPolicy string PreemptLowerPriority or Never.
  priority integer The higher goes first; by priorityClassName, mostly.
  priorityClassName string The PriorityClass that says its priority.
  readinessGates []PodReadinessGate Conditions that must be true before it is ready.
  resourceClaims []PodResourceClaim Claims of devices that containers use.
  resources ResourceRequirements What all of its containers together ask for, and may use.
  restartPolicy string Always, OnFailure or Never: whether containers that ended are started again.
  runtimeClassName string The RuntimeClass that runs it.
  schedulerName string Who finds a node for it.
  schedulingGates []PodSchedulingGate What must go before it is scheduled.
  schedulingGroup any The group of pods that it is scheduled with.
  securityContext PodSecurityContext Users, groups and rights of all containers.
  serviceAccount string The older name of serviceAccountName.
  serviceAccountName string The account whose token the containers get.
  setHostnameAsFQDN boolean Whether it takes itself for its whole name with the domain.
  shareProcessNamespace boolean Whether its containers see each other's processes.
  subdomain string The headless Service that gives it a name.
  terminationGracePeriodSeconds integer Seconds from SIGTERM to SIGKILL. Default 30.
  tolerations []Toleration Taints of nodes that it does not mind.
  topologySpreadConstraints []TopologySpreadConstraint How evenly such pods are spread.
  volumes []Volume What containers can mount.

Container One program, with what it sees.
  args []string Arguments; in place of the image's cmd.
  command []string The program and its first arguments; in place of the image's entrypoint.
  env []EnvVar Environment variables.
  envFrom []EnvFromSource ConfigMaps and Secrets all of whose keys become variables.
  image string The image; on this machine a row of images.yaml, or nothing but a name.
  imagePullPolicy string Always, IfNotPresent or Never.
  lifecycle Lifecycle What is done after its start and before its end.
  livenessProbe Probe When this fails the container is started again.
  name string Its name, unique in the pod.
  ports []ContainerPort Ports that it listens on.
  readinessProbe Probe While this fails no service leads to it.
  resizePolicy []ContainerResizePolicy Whether it must be restarted when its resources change.
  resources ResourceRequirements What it asks for, and may use.
  restartPolicy string Of an init container: Always makes it run beside the others.
  restartPolicyRules []any Exit codes that decide whether it is started again.
  securityContext SecurityContext User, group and rights.
  startupProbe Probe Until this succeeds the other probes wait.
  stdin boolean Whether its standard input stays open.
  stdinOnce boolean Whether that is closed after the first who was attached.
  terminationMessagePath string The file whose text is told with its end. Default /dev/termination-log.
  terminationMessagePolicy string File or FallbackToLogsOnError.
  tty boolean Whether it gets a terminal.
  volumeDevices []VolumeDevice Block devices of claims.
  volumeMounts []VolumeMount Volumes, and where they appear.
  workingDir string Where it starts. Default: as its image says.

EnvVar One environment variable.
  name string Its name.
  value string Its value; $(NAME) stands for a variable before it.
  valueFrom EnvVarSource Where the value comes from instead.

EnvVarSource Where the value of a variable comes from.
  configMapKeyRef KeySelector A key of a ConfigMap.
  fieldRef ObjectFieldSelector A field of the pod.
  fileKeyRef FileKeySelector A key of a file in a volume.
  resourceFieldRef ResourceFieldSelector A request or a limit of the container.
  secretKeyRef KeySelector A key of a Secret.

EnvFromSource All keys of an object as variables.
  configMapRef OptionalReference The ConfigMap.
  prefix string What stands before every name.
  secretRef OptionalReference The Secret.

KeySelector A key of an object.
  key string Which key.
  name string Which object.
  optional boolean Whether it may be missing.

FileKeySelector A key of a file in a volume.
  key string Which key.
  optional boolean Whether it may be missing.
  path string The file in the volume.
  volumeName string Which volume.

OptionalReference An object that may be missing.
  name string Its name.
  optional boolean Whether it may be missing.

LocalObjectReference An object of the same namespace.
  name string Its name.

ObjectFieldSelector A field of the pod.
  apiVersion string v1.
  fieldPath string Which field: metadata.name, status.podIP, …

ResourceFieldSelector A request or a limit of a container.
  containerName string Of which container.
  divisor quantity The unit it is told in.
  resource string limits.cpu, requests.memory, …

ContainerPort A port that a container listens on.
  containerPort integer Its number.
  hostIP string The address of the node on which it is offered.
  hostPort integer The port of the node that leads there.
  name string Its name, for services and probes.
  protocol string TCP, UDP or SCTP.

ContainerResizePolicy Whether a change of a resource needs a restart.
  resourceName string cpu or memory.
  restartPolicy string NotRequired or RestartContainer.

ResourceRequirements What is asked for, and what may be used.
  claims []ResourceClaim Claims of devices, by their name in the pod.
  limits {}quantity The most of each resource.
  requests {}quantity What must be free on the node. Default: the limits.

ResourceClaim A claim of devices that the container uses.
  name string One of the pod's resourceClaims.
  request string Which request of it.

PodResourceClaim A claim of devices.
  name string Its name in the pod.
  resourceClaimName string A claim that exists.
  resourceClaimTemplateName string The template that one is made of.

VolumeMount A volume in a container.
  mountPath string Where it appears.
  mountPropagation string None, HostToContainer or Bidirectional.
  name string Which volume.
  readOnly boolean Whether it can only be read.
  recursiveReadOnly string Disabled, IfPossible or Enabled.
  subPath string The directory or file in the volume that appears there.
  subPathExpr string The same with $(NAME) in it.

VolumeDevice A block device of a claim.
  devicePath string Where it appears.
  name string Which claim's volume.

Lifecycle What is done after the start and before the end.
  postStart LifecycleHandler Just after the start.
  preStop LifecycleHandler Before SIGTERM.
  stopSignal string The signal in place of SIGTERM.

LifecycleHandler One thing to do.
  exec ExecAction A program in the container.
  httpGet HTTPGetAction A request to it.
  sleep SleepAction A while to wait.
  tcpSocket TCPSocketAction A connection to it.

Probe A check that is repeated.
  exec ExecAction A program in the container: 0 is well.
  failureThreshold integer How often in a row it must fail. Default 3.
  grpc GRPCAction A health check over gRPC.
  httpGet HTTPGetAction A request: 200 to 399 is well.
  initialDelaySeconds integer Seconds after the start before the first.
  periodSeconds integer Seconds from one to the next. Default 10.
  successThreshold integer How often in a row it must succeed. Default 1.
  tcpSocket TCPSocketAction A connection: that it opens is well.
  terminationGracePeriodSeconds integer Seconds from SIGTERM to SIGKILL when it fails.
  timeoutSeconds integer Seconds that one may take. Default 1.

ExecAction A program in the container.
  command []string The program and its arguments.

HTTPGetAction A request over HTTP.
  host string To whom. Default: the pod.
  httpHeaders []HTTPHeader Headers.
  path string The path.
  port number-or-text The port, by number or name.
  scheme string HTTP or HTTPS.

HTTPHeader A header.
  name string Its name.
  value string Its value.

SleepAction A while to wait.
  seconds integer How long.

TCPSocketAction A connection.
  host string To whom. Default: the pod.
  port number-or-text The port, by number or name.

GRPCAction A health check over gRPC.
  port integer The port.
  service string The service that is asked for.

SecurityContext User, group and rights of a container.
  allowPrivilegeEscalation boolean False: no program in it gets more rights than it has.
  appArmorProfile AppArmorProfile The profile of AppArmor.
  capabilities Capabilities Rights that are added or taken away.
  privileged boolean Whether it has all rights of the node.
  procMount string Default or Unmasked.
  readOnlyRootFilesystem boolean Whether its root can only be read.
  runAsGroup integer The group, by number.
  runAsNonRoot boolean Whether root is refused.
  runAsUser integer The user, by number.
  seLinuxOptions SELinuxOptions The labels of SELinux.
  seccompProfile SeccompProfile The profile of seccomp.
  windowsOptions WindowsOptions What only Windows has.

PodSecurityContext Users, groups and rights of all containers.
  appArmorProfile AppArmorProfile The profile of AppArmor.
  fsGroup integer The group that volumes belong to.
  fsGroupChangePolicy string OnRootMismatch or Always.
  runAsGroup integer The group, by number.
  runAsNonRoot boolean Whether root is refused.
  runAsUser integer The user, by number.
  seLinuxChangePolicy string MountOption or Recursive.
  seLinuxOptions SELinuxOptions The labels of SELinux.
  seccompProfile SeccompProfile The profile of seccomp.
  supplementalGroups []integer Further groups.
  supplementalGroupsPolicy string Merge or Strict.
  sysctls []Sysctl Settings of the kernel.
  windowsOptions WindowsOptions What only Windows has.

AppArmorProfile A profile of AppArmor.
  localhostProfile string One of the node, by name.
  type string Localhost, RuntimeDefault or Unconfined.

Capabilities Rights that are added or taken away.
  add []string Added.
  drop []string Taken away.

SELinuxOptions Labels of SELinux.
  level string Level.
  role string Role.
  type string Type.
  user string User.

SeccompProfile A profile of seccomp.
  localhostProfile string One of the node, by file.
  type string Localhost, RuntimeDefault or Unconfined.

WindowsOptions What only Windows has.
  gmsaCredentialSpec string The credential itself.
  gmsaCredentialSpecName string The credential by name.
  hostProcess boolean Whether it runs as a process of the node.
  runAsUserName string The user.

Sysctl A setting of the kernel.
  name string Which.
  value string Its value.

PodDNSConfig Name servers beside those of dnsPolicy.
  nameservers []string Addresses.
  options []PodDNSConfigOption Options of the resolver.
  searches []string Domains that are tried.

PodDNSConfigOption An option of the resolver.
  name string Which.
  value string Its value.

HostAlias A line of /etc/hosts.
  hostnames []string Names.
  ip string Their address.

PodOS An operating system.
  name string linux or windows.

PodReadinessGate A condition that must be true before the pod is ready.
  conditionType string Which.

PodSchedulingGate Something that must go before the pod is scheduled.
  name string Which.

Toleration A taint that the pod does not mind.
  effect string NoSchedule, PreferNoSchedule or NoExecute; absent: all.
  key string Which taint; absent: all.
  operator string Exists or Equal; Lt and Gt compare numbers.
  tolerationSeconds integer How long it stays under NoExecute.
  value string The value that it does not mind.

TopologySpreadConstraint How evenly such pods are spread.
  labelSelector LabelSelector Which pods are counted.
  matchLabelKeys []string Labels whose values must be those of the pod, too.
  maxSkew integer How many more than elsewhere are fine.
  minDomains integer How many domains there must be.
  nodeAffinityPolicy string Honor or Ignore.
  nodeTaintsPolicy string Honor or Ignore.
  topologyKey string The label of nodes that says the domain.
  whenUnsatisfiable string DoNotSchedule or ScheduleAnyway.

Affinity Which nodes, and which neighbours, the pod prefers or needs.
  nodeAffinity NodeAffinity Nodes.
  podAffinity PodAffinity Pods that it should be near.
  podAntiAffinity PodAffinity Pods that it should not be near.

NodeAffinity Nodes that are preferred or needed.
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm Preferred.
  requiredDuringSchedulingIgnoredDuringExecution NodeSelector Needed.

PreferredSchedulingTerm Nodes that are preferred, and how much.
  preference NodeSelectorTerm Which nodes.
  weight integer 1 to 100.

NodeSelector Nodes that fit one of the terms.
  nodeSelectorTerms []NodeSelectorTerm The terms.

NodeSelectorTerm Nodes for which everything here is true.
  matchExpressions []SelectorRequirement By labels.
  matchFields []SelectorRequirement By fields.

SelectorRequirement One requirement.
  key string The label or field.
  operator string In, NotIn, Exists, DoesNotExist, Gt or Lt.
  values []string The values.

PodAffinity Pods that are preferred or needed as neighbours.
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm Preferred.
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm Needed.

WeightedPodAffinityTerm Neighbours that are preferred, and how much.
  podAffinityTerm PodAffinityTerm Which.
  weight integer 1 to 100.

PodAffinityTerm Pods, and what near means.
  labelSelector LabelSelector Which pods.
  matchLabelKeys []string Labels whose values must be those of the pod, too.
  mismatchLabelKeys []string Labels whose values must not be those of the pod.
  namespaceSelector LabelSelector In which namespaces, by labels.
  namespaces []string In which namespaces.
  topologyKey string The label of nodes that says what is near.

LabelSelector Objects by their labels.
  matchExpressions []SelectorRequirement Requirements; all must be true.
  matchLabels {}string Labels that they must have.
)";

}  // namespace muster::cli
