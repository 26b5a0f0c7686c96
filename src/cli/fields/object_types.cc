#include "cli/fields/kubernetes_types.h"

// What every object has, and the other kinds that may stand beside jobs.
namespace muster::cli {

const std::string_view kObjectTypes = R"(
ObjectMeta What is known of every object.
  annotations {}string Notes for programs, by key.
  creationTimestamp time When it was created; written by the server.
  deletionGracePeriodSeconds integer How long its end may take; written by the server.
  deletionTimestamp time When it is to be gone; written by the server.
  finalizers []string Who must be done with it before it goes.
  generateName string The beginning of a name that the server completes.
  generation integer Counts changes of what is wanted; written by the server.
  labels {}string By what it can be selected.
  managedFields []any Who wrote which field; written by the server.
  name string Its name, unique for the kind in the namespace.
  namespace string Its namespace.
  ownerReferences []OwnerReference Whom it belongs to: it goes when they go.
  resourceVersion string Which version this is; written by the server.
  selfLink string No longer written.
  uid string Tells it from others of that name before and after; written by the server.

OwnerReference An object that this one belongs to.
  apiVersion string Group and version of its kind.
  blockOwnerDeletion boolean Whether it waits for this one to go first.
  controller boolean Whether it manages this one.
  kind string Its kind.
  name string Its name.
  uid string Its uid.

ConfigMap Settings by key.
  apiVersion string v1.
  binaryData {}string Values that are no text, in base64.
  data {}string Values that are text.
  immutable boolean Whether it can never change.
  kind string ConfigMap.
  metadata ObjectMeta

Secret Values that not everybody may read, by key.
  apiVersion string v1.
  data {}string Values in base64.
  immutable boolean Whether it can never change.
  kind string Secret.
  metadata ObjectMeta
  stringData {}string Values as they are; the server writes them to data.
  type string What it is for. Default Opaque.

Service An address that leads to pods.
  apiVersion string v1.
  kind string Service.
  metadata ObjectMeta
  spec ServiceSpec Which pods, and which ports.
  status any What became of it.

ServiceSpec Which pods, and which ports.
  allocateLoadBalancerNodePorts boolean Whether a load balancer gets ports of the nodes.
  clusterIP string Its address; None: the pods' own.
  clusterIPs []string The same for several families.
  externalIPs []string Further addresses that lead to it.
  externalName string The name that it stands for.
  externalTrafficPolicy string Cluster or Local.
  healthCheckNodePort integer The port of the nodes that tells whether they have a pod of it.
  internalTrafficPolicy string Cluster or Local.
  ipFamilies []string IPv4 or IPv6.
  ipFamilyPolicy string SingleStack, PreferDualStack or RequireDualStack.
  loadBalancerClass string Which load balancer.
  loadBalancerIP string Its address.
  loadBalancerSourceRanges []string Who may reach it.
  ports []ServicePort Its ports.
  publishNotReadyAddresses boolean Whether pods that are not ready are found by it.
  selector {}string Labels of its pods.
  sessionAffinity string None or ClientIP: whether a client keeps its pod.
  sessionAffinityConfig any For how long.
  trafficDistribution string Which pods are preferred.
  type string ClusterIP, NodePort, LoadBalancer or ExternalName.

ServicePort A port of a service.
  appProtocol string What is spoken there.
  name string Its name.
  nodePort integer The port of the nodes that leads there.
  port integer Its number.
  protocol string TCP, UDP or SCTP.
  targetPort number-or-text The port of the pods, by number or name.

ServiceAccount Who a pod is for the API.
  apiVersion string v1.
  automountServiceAccountToken boolean Whether its pods get a token.
  imagePullSecrets []LocalObjectReference Secrets for the registries of its pods' images.
  kind string ServiceAccount.
  metadata ObjectMeta
  secrets []any Secrets that its pods may use.

Namespace A room for objects.
  apiVersion string v1.
  kind string Namespace.
  metadata ObjectMeta
  spec NamespaceSpec
  status any What became of it.

NamespaceSpec What must be done before it goes.
  finalizers []string Who must be done with it.

Role Rights in a namespace.
  apiVersion string rbac.authorization.k8s.io/v1.
  kind string Role.
  metadata ObjectMeta
  rules []PolicyRule The rights.

PolicyRule Some verbs on some resources.
  apiGroups []string Groups; "" is the core.
  nonResourceURLs []string Paths that are no resources.
  resourceNames []string Only these objects.
  resources []string Resources: pods, pods/log, …
  verbs []string get, list, watch, create, update, patch, delete, …

RoleBinding Who has the rights of a role.
  apiVersion string rbac.authorization.k8s.io/v1.
  kind string RoleBinding.
  metadata ObjectMeta
  roleRef RoleRef The role.
  subjects []Subject Who has them.

RoleRef A role.
  apiGroup string rbac.authorization.k8s.io.
  kind string Role or ClusterRole.
  name string Its name.

Subject Somebody who has rights.
  apiGroup string Its group.
  kind string User, Group or ServiceAccount.
  name string Its name.
  namespace string The account's namespace.
)";

}  // namespace muster::cli
