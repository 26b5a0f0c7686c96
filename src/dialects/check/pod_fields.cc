#include <array>

#include "dialects/check/pod_template.h"

namespace muster::dialects {
namespace {

constexpr std::string_view kImageHint = "for example example.org/team/train:1.0";
constexpr std::string_view kPullPolicies = "|Always|IfNotPresent|Never";

// The rows of one list of containers. Templates are in every job: one constant table, no building.
#define MUSTER_CONTAINER_FIELDS(list)                                                             \
  Field{.path = "spec." list, .type = Type::List},                                                \
      Field{.path = "spec." list "[]", .type = Type::Open},                                       \
      Field{.path = "spec." list "[].name",                                                       \
            .type = Type::String,                                                                 \
            .required = true,                                                                     \
            .format = Format::DnsLabel},                                                          \
      Field{.path = "spec." list "[].image",                                                      \
            .type = Type::String,                                                                 \
            .required = true,                                                                     \
            .hint = kImageHint},                                                                  \
      Field{.path = "spec." list "[].imagePullPolicy",                                            \
            .type = Type::String,                                                                 \
            .allowed = kPullPolicies},                                                            \
      Field{.path = "spec." list "[].command", .type = Type::List},                               \
      Field{.path = "spec." list "[].command[]", .type = Type::String},                           \
      Field{.path = "spec." list "[].args", .type = Type::List},                                  \
      Field{.path = "spec." list "[].args[]", .type = Type::String},                              \
      Field{.path = "spec." list "[].workingDir", .type = Type::String},                          \
      Field{.path = "spec." list "[].env", .type = Type::List},                                   \
      Field{.path = "spec." list "[].env[]", .type = Type::Open},                                 \
      Field{.path = "spec." list "[].env[].name",                                                 \
            .type = Type::String,                                                                 \
            .required = true,                                                                     \
            .format = Format::EnvName},                                                           \
      Field{.path = "spec." list "[].env[].value", .type = Type::String, .secret = true},         \
      Field{.path = "spec." list "[].env[].valueFrom", .type = Type::Open},                       \
      Field{.path = "spec." list "[].envFrom", .type = Type::List},                               \
      Field{.path = "spec." list "[].envFrom[]", .type = Type::Open},                             \
      Field{.path = "spec." list "[].ports", .type = Type::List},                                 \
      Field{.path = "spec." list "[].ports[]", .type = Type::Open},                               \
      Field{.path = "spec." list "[].ports[].name",                                               \
            .type = Type::String,                                                                 \
            .format = Format::PortName},                                                          \
      Field{.path = "spec." list "[].ports[].containerPort",                                      \
            .type = Type::Int32,                                                                  \
            .required = true,                                                                     \
            .minimum = 1,                                                                         \
            .maximum = 65535},                                                                    \
      Field{.path = "spec." list "[].ports[].hostPort",                                           \
            .type = Type::Int32,                                                                  \
            .minimum = 0,                                                                         \
            .maximum = 65535},                                                                    \
      Field{.path = "spec." list "[].ports[].protocol",                                           \
            .type = Type::String,                                                                 \
            .allowed = "|TCP|UDP|SCTP"},                                                          \
      Field{.path = "spec." list "[].resources", .type = Type::Open},                             \
      Field{.path = "spec." list "[].resources.limits",                                           \
            .type = Type::Map,                                                                    \
            .keys = Format::ResourceName},                                                        \
      Field{.path = "spec." list "[].resources.limits.*", .type = Type::Quantity},                \
      Field{.path = "spec." list "[].resources.requests",                                         \
            .type = Type::Map,                                                                    \
            .keys = Format::ResourceName},                                                        \
      Field{.path = "spec." list "[].resources.requests.*", .type = Type::Quantity},              \
      Field{.path = "spec." list "[].volumeMounts", .type = Type::List},                          \
      Field{.path = "spec." list "[].volumeMounts[]", .type = Type::Open},                        \
      Field{                                                                                      \
          .path = "spec." list "[].volumeMounts[].name", .type = Type::String, .required = true}, \
      Field{.path = "spec." list "[].volumeMounts[].mountPath",                                   \
            .type = Type::String,                                                                 \
            .required = true,                                                                     \
            .hint = "where the volume appears in the container"},                                 \
      Field{.path = "spec." list "[].volumeMounts[].readOnly", .type = Type::Bool},               \
      Field{.path = "spec." list "[].volumeMounts[].subPath", .type = Type::String},              \
      Field{.path = "spec." list "[].livenessProbe", .type = Type::Open},                         \
      Field{.path = "spec." list "[].readinessProbe", .type = Type::Open},                        \
      Field{.path = "spec." list "[].startupProbe", .type = Type::Open},                          \
      Field{.path = "spec." list "[].securityContext", .type = Type::Open},                       \
      Field{.path = "spec." list "[].tty", .type = Type::Bool}, Field {                           \
    .path = "spec." list "[].stdin", .type = Type::Bool                                           \
  }

constexpr auto kPodFields = std::to_array<Field>({
    {.path = "metadata", .type = Type::Open},
    {.path = "metadata.labels", .type = Type::Map, .keys = Format::LabelKey},
    {.path = "metadata.labels.*", .type = Type::String, .format = Format::LabelValue},
    {.path = "metadata.annotations", .type = Type::Map, .keys = Format::LabelKey},
    {.path = "metadata.annotations.*", .type = Type::String, .secret = true},
    {.path = "metadata.finalizers", .type = Type::List},
    {.path = "metadata.finalizers[]", .type = Type::String},
    {.path = "spec", .type = Type::Open},
    MUSTER_CONTAINER_FIELDS("containers"),
    MUSTER_CONTAINER_FIELDS("initContainers"),
    {.path = "spec.volumes", .type = Type::List},
    {.path = "spec.volumes[]", .type = Type::Open},
    {.path = "spec.volumes[].name",
     .type = Type::String,
     .required = true,
     .format = Format::DnsLabel},
    {.path = "spec.volumes[].hostPath", .type = Type::Open},
    {.path = "spec.volumes[].hostPath.path",
     .type = Type::String,
     .required = true,
     .format = Format::HostPath,
     .hint = "an absolute path on the node"},
    {.path = "spec.volumes[].hostPath.type",
     .type = Type::String,
     .allowed = "|DirectoryOrCreate|Directory|FileOrCreate|File|Socket|CharDevice|BlockDevice"},
    {.path = "spec.volumes[].emptyDir", .type = Type::Open},
    {.path = "spec.volumes[].emptyDir.medium", .type = Type::String},
    {.path = "spec.volumes[].emptyDir.sizeLimit", .type = Type::Quantity},
    {.path = "spec.volumes[].configMap", .type = Type::Open},
    {.path = "spec.volumes[].configMap.name", .type = Type::String, .required = true},
    {.path = "spec.volumes[].secret", .type = Type::Open},
    {.path = "spec.volumes[].secret.secretName", .type = Type::String, .required = true},
    {.path = "spec.volumes[].persistentVolumeClaim", .type = Type::Open},
    {.path = "spec.volumes[].persistentVolumeClaim.claimName",
     .type = Type::String,
     .required = true},
    {.path = "spec.volumes[].projected", .type = Type::Open},
    {.path = "spec.restartPolicy", .type = Type::String, .allowed = "|Always|OnFailure|Never"},
    {.path = "spec.terminationGracePeriodSeconds", .type = Type::Int64, .minimum = 0},
    {.path = "spec.activeDeadlineSeconds", .type = Type::Int64, .minimum = 1},
    {.path = "spec.nodeSelector", .type = Type::Map, .keys = Format::LabelKey},
    {.path = "spec.nodeSelector.*", .type = Type::String, .format = Format::LabelValue},
    {.path = "spec.nodeName", .type = Type::String},
    {.path = "spec.hostNetwork", .type = Type::Bool},
    {.path = "spec.hostPID", .type = Type::Bool},
    {.path = "spec.hostIPC", .type = Type::Bool},
    {.path = "spec.shareProcessNamespace", .type = Type::Bool},
    {.path = "spec.automountServiceAccountToken", .type = Type::Bool},
    {.path = "spec.enableServiceLinks", .type = Type::Bool},
    {.path = "spec.serviceAccountName", .type = Type::String},
    {.path = "spec.schedulerName", .type = Type::String},
    {.path = "spec.priorityClassName", .type = Type::String},
    {.path = "spec.runtimeClassName", .type = Type::String},
    {.path = "spec.hostname", .type = Type::String, .format = Format::DnsLabel},
    {.path = "spec.dnsPolicy",
     .type = Type::String,
     .allowed = "|ClusterFirst|ClusterFirstWithHostNet|Default|None"},
    {.path = "spec.affinity", .type = Type::Open},
    {.path = "spec.securityContext", .type = Type::Open},
    {.path = "spec.tolerations", .type = Type::List},
    {.path = "spec.tolerations[]", .type = Type::Open},
    {.path = "spec.imagePullSecrets", .type = Type::List},
    {.path = "spec.imagePullSecrets[]", .type = Type::Open},
});

#undef MUSTER_CONTAINER_FIELDS

}  // namespace

std::span<const Field> pod_template_fields() {
  return kPodFields;
}

}  // namespace muster::dialects
