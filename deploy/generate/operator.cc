#include "operator.h"

#include <fmt/format.h>

#include "base/version.h"
#include "dialects/registry.h"

namespace muster::deploy {
namespace {

constexpr std::string_view kOperator = R"(apiVersion: apps/v1
kind: Deployment
metadata:
  name: muster-operator
{place}  labels: {{app.kubernetes.io/name: muster-operator}}
spec:
  # One works, the other waits for the lease: it takes over at once when the first one ends, and 15 s after a crash.
  replicas: 2
  selector:
    matchLabels: {{app.kubernetes.io/name: muster-operator}}
  template:
    metadata:
      labels: {{app.kubernetes.io/name: muster-operator}}
    spec:
      serviceAccountName: muster-operator
      terminationGracePeriodSeconds: 15
      # Not both on one node, where there are two.
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector:
          matchLabels: {{app.kubernetes.io/name: muster-operator}}
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        seccompProfile: {{type: RuntimeDefault}}
      containers:
      - name: operator
        image: {image}
        imagePullPolicy: IfNotPresent
        command: [/usr/bin/muster]
        args:
        - operator
        - --leader-elect
{flags}        - --agent-image={agent_image}
        - --metrics-bind-address=:8080
        - --health-probe-bind-address=:8081
{environment}        ports:
        - {{name: metrics, containerPort: 8080}}
        - {{name: health, containerPort: 8081}}
        # It is ready within a second; the other probes begin when it is.
        startupProbe:
          httpGet: {{path: /readyz, port: health}}
          periodSeconds: 1
          failureThreshold: 60
        livenessProbe:
          httpGet: {{path: /healthz, port: health}}
          periodSeconds: 10
        readinessProbe:
          httpGet: {{path: /readyz, port: health}}
          periodSeconds: 5
        resources:
          requests: {{cpu: 50m, memory: 32Mi}}
          limits: {{memory: 256Mi}}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities: {{drop: [ALL]}}
---
# A drain takes one of them at a time.
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: muster-operator
{place}  labels: {{app.kubernetes.io/name: muster-operator}}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{app.kubernetes.io/name: muster-operator}}
)";

constexpr std::string_view kFlagsOfOneNamespace = R"(        - --namespace=$(NAMESPACE)
        - --lease-namespace=$(NAMESPACE)
)";

constexpr std::string_view kEnvironmentOfOneNamespace = R"(        env:
        - name: NAMESPACE
          valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
)";

}  // namespace

std::string operator_image() {
  return fmt::format("muster.dev/muster:{}", kVersion);
}

std::string agent_image() {
  return dialects::Settings().agent_image;
}

std::string operator_yaml(Reach reach) {
  const bool narrow = reach == Reach::Namespace;
  using fmt::arg;
  return fmt::format(kOperator, arg("place", narrow ? "" : "  namespace: muster-system\n"),
                     arg("image", operator_image()), arg("agent_image", agent_image()),
                     arg("flags", narrow ? kFlagsOfOneNamespace : ""),
                     arg("environment", narrow ? kEnvironmentOfOneNamespace : ""));
}

}  // namespace muster::deploy
