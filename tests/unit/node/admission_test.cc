#include "unit/node/fixture.h"

#include "api/waiting.h"
#include "node/pod/admission/admission.h"
#include "node/pod/container/capability_names.h"
#include "node/pod/container/container_spec.h"
#include "node/runtime/capabilities.h"

namespace muster::node {
namespace {

struct Row {
  const char* field;  // below spec
  const char* value;
};

// A pod of one container with this in its spec; `containers[0].x` is a field of that container.
json::Value pod_with(const Row& row) {
  auto pod = PodBuilder("p").restart("Never").container("main", "serve").build();
  json::Value* at = &pod["spec"];
  for (const auto part : split(row.field, '.')) {
    if (part == "containers[0]") {
      at = &at->object()["containers"].array()[0];
    } else {
      at = &(*at)[std::string(part)];
    }
  }
  *at = parse(row.value);
  return pod;
}

struct RefusedRow {
  Row row;
  const char* message;  // its beginning
  const char* reason = "UnsupportedField";
};

const RefusedRow kRefused[] = {
    {{"hostPID", "true"}, "spec.hostPID: true cannot be obeyed by this node: a pod sees its own"},
    {{"hostUsers", "false"}, "spec.hostUsers: false "},
    {{"runtimeClassName", R"("kata")"}, "spec.runtimeClassName: kata "},
    {{"os", R"({"name":"windows"})"}, "spec.os.name: windows ", "PodOSNotSupported"},
    {{"hostAliases", R"([{"ip":"1.2.3.4","hostnames":["a"]}])"}, "spec.hostAliases: [{"},
    {{"dnsPolicy", R"("None")"}, "spec.dnsPolicy: None "},
    {{"dnsPolicy", R"("Default")"}, "spec.dnsPolicy: Default "},
    {{"dnsConfig", R"({"nameservers":["1.1.1.1"]})"}, "spec.dnsConfig cannot be obeyed"},
    {{"ephemeralContainers", R"([{"name":"d"}])"}, "spec.ephemeralContainers: "},
    {{"resources", R"({"limits":{"cpu":"1"}})"}, "spec.resources cannot be obeyed"},
    {{"resourceClaims", R"([{"name":"g"}])"}, "spec.resourceClaims: "},
    {{"securityContext.runAsUser", "-1"}, "spec.securityContext.runAsUser: -1 "},
    {{"securityContext.runAsUser", R"("1000")"}, "spec.securityContext.runAsUser: 1000 "},
    {{"securityContext.supplementalGroups", "[1,4294967296]"},
     "spec.securityContext.supplementalGroups: [1,4294967296] "},
    {{"securityContext.seccompProfile", R"({"type":"Localhost","localhostProfile":"x"})"},
     "spec.securityContext.seccompProfile.type: Localhost "},
    {{"securityContext.appArmorProfile.type", R"("RuntimeDefault")"},
     "spec.securityContext.appArmorProfile.type: RuntimeDefault ",
     "AppArmor"},
    {{"securityContext.seLinuxOptions.level", R"("s0")"},
     "spec.securityContext.seLinuxOptions cannot be obeyed"},
    {{"securityContext.windowsOptions.hostProcess", "true"},
     "spec.securityContext.windowsOptions cannot be obeyed"},
    {{"securityContext.sysctls", R"([{"name":"net.ipv4.tcp_rmem","value":"1"},
         {"name":"kernel.msgmax","value":"1"}])"},
     "spec.securityContext.sysctls[1].name: kernel.msgmax ",
     "SysctlForbidden"},
    {{"containers[0].securityContext.capabilities.add", R"(["NET_ADMIN","FLYING"])"},
     "spec.containers[0].securityContext.capabilities.add: [\"NET_ADMIN\",\"FLYING\"] "},
    {{"containers[0].securityContext.procMount", R"("Unmasked")"},
     "spec.containers[0].securityContext.procMount: Unmasked "},
    {{"containers[0].securityContext.privileged", R"("true")"},
     "spec.containers[0].securityContext.privileged: true cannot be obeyed by this node: true and"},
    {{"containers[0].securityContext", R"({"privileged":true,"allowPrivilegeEscalation":false})"},
     "spec.containers[0].securityContext.allowPrivilegeEscalation: false "},
    {{"containers[0].ports", R"([{"containerPort":80},{"containerPort":81,"hostPort":8081}])"},
     "spec.containers[0].ports[1].hostPort: 8081 "},
    {{"containers[0].lifecycle.postStart.httpGet", R"({"port":80})"},
     "spec.containers[0].lifecycle.postStart.httpGet cannot be obeyed"},
    {{"containers[0].lifecycle.stopSignal", R"("SIGUSR1")"},
     "spec.containers[0].lifecycle.stopSignal: SIGUSR1 "},
    {{"containers[0].livenessProbe.grpc.port", "80"},
     "spec.containers[0].livenessProbe.grpc cannot be obeyed"},
    {{"containers[0].tty", "true"}, "spec.containers[0].tty: true "},
    {{"containers[0].restartPolicy", R"("Always")"}, "spec.containers[0].restartPolicy: Always "},
    {{"containers[0].restartPolicyRules", R"([{"action":"Restart"}])"},
     "spec.containers[0].restartPolicyRules: "},
    {{"containers[0].volumeDevices", R"([{"name":"d","devicePath":"/dev/x"}])"},
     "spec.containers[0].volumeDevices: "},
    {{"containers[0].volumeMounts",
      R"([{"name":"d","mountPath":"/d","mountPropagation":"Bidirectional"}])"},
     "spec.containers[0].volumeMounts[0].mountPropagation: Bidirectional "},
    {{"containers[0].resources.limits", R"({"hugepages-2Mi":"2Mi"})"},
     "spec.containers[0].resources.limits cannot be obeyed"},
    {{"containers[0].resources.claims", R"([{"name":"g"}])"},
     "spec.containers[0].resources.claims: "},
    {{"containers[0].env",
      R"([{"name":"A","valueFrom":{"fileKeyRef":{"key":"k","path":"p","volumeName":"v"}}}])"},
     "spec.containers[0].env[0].valueFrom.fileKeyRef cannot be obeyed"},
    {{"volumes", R"([{"name":"a","emptyDir":{}},{"name":"b","nfs":{"server":"s","path":"/"}}])"},
     "spec.volumes[1].nfs cannot be obeyed"},
    {{"volumes", R"([{"name":"a","emptyDir":{"medium":"HugePages"}}])"},
     "spec.volumes[0].emptyDir.medium: HugePages "},
    {{"volumes", R"([{"name":"a","projected":{"sources":[{"podCertificate":{"keyType":"x"}}]}}])"},
     "spec.volumes[0].projected.sources[0].podCertificate cannot be obeyed"},
    {{"initContainers", R"([{"name":"i","image":"x","restartPolicy":"OnFailure"}])"},
     "spec.initContainers[0].restartPolicy: OnFailure "},
    {{"initContainers", R"([{"name":"i","image":"x","stdin":true}])"},
     "spec.initContainers[0].stdin: true "},
};

TEST(Admission, RefusesWhatItCannotObeyAndSaysWhat) {
  for (const auto& [row, message, reason] : kRefused) {
    const auto refusal = refusal_of(pod_with(row));
    ASSERT_TRUE(refusal) << row.field << ": " << row.value;
    EXPECT_TRUE(refusal->message.starts_with(message)) << refusal->message;
    EXPECT_EQ(refusal->reason, reason) << row.field;
    EXPECT_TRUE(refusal->message.contains(" cannot be obeyed by this node: "));
  }
}

TEST(Admission, LetsPassWhatIsObeyedAndWhatSaysNothing) {
  const Row rows[] = {
      {"hostPID", "false"},
      {"hostIPC", "true"},
      {"hostNetwork", "true"},
      {"hostUsers", "true"},
      {"hostAliases", "[]"},
      {"shareProcessNamespace", "false"},
      {"shareProcessNamespace", "true"},
      {"os", R"({"name":"linux"})"},
      {"dnsPolicy", R"("ClusterFirst")"},
      {"affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
       R"([{"topologyKey":"kubernetes.io/hostname"}])"},
      {"securityContext.sysctls", R"([{"name":"net/ipv4/tcp_rmem","value":"1 2 3"}])"},
      {"securityContext.appArmorProfile.type", R"("Unconfined")"},
      {"securityContext.fsGroup", "0"},
      {"containers[0].securityContext.privileged", "true"},
      {"containers[0].securityContext.capabilities", R"({"add":["CAP_SYS_ADMIN","all"]})"},
      {"containers[0].securityContext.procMount", R"("Default")"},
      {"containers[0].lifecycle.preStop.sleep.seconds", "3"},
      {"containers[0].restartPolicy", R"("Never")"},
      {"containers[0].ports", R"([{"containerPort":80,"hostPort":0}])"},
      {"containers[0].unheardOf", "true"},
      {"initContainers", R"([{"name":"i","image":"x","restartPolicy":"Always"}])"},
  };
  for (const auto& row : rows) {
    const auto refusal = refusal_of(pod_with(row));
    EXPECT_FALSE(refusal) << row.field << ": " << refusal->message;
  }
}

TEST(Admission, WhatMattersOnlyBesideSomethingElse) {
  auto pod = pod_with({"hostNetwork", "true"});
  pod["spec"]["containers"].array()[0]["ports"] = parse(R"([{"containerPort":80,"hostPort":80}])");
  pod["spec"]["dnsPolicy"] = "Default";
  EXPECT_FALSE(refusal_of(pod));
  pod["spec"]["securityContext"]["sysctls"] = parse(R"([{"name":"net.ipv4.tcp_rmem"}])");
  EXPECT_EQ(refusal_of(pod)->reason, "SysctlForbidden") << "it is the machine's";

  auto apart = pod_with({"shareProcessNamespace", "false"});
  apart["spec"]["containers"].array().push_back(parse(R"({"name":"two","image":"x"})"));
  EXPECT_TRUE(refusal_of(apart)->message.starts_with("spec.shareProcessNamespace: false "));
}

TEST(Admission, EveryRefusedRowSaysWhatIsRight) {
  for (const auto& group : admission::all_rules()) {
    for (const auto& rule : group.rules) {
      const bool refuses = rule.fate == admission::Fate::Refused || rule.refuses != nullptr;
      if (refuses) EXPECT_FALSE(rule.note.empty() && rule.remedy.empty()) << rule.path;
      for (const auto& path : admission::expanded(rule.path)) {
        const bool below = path.ends_with(".**");
        EXPECT_EQ(admission::rule_of(path.substr(0, path.size() - (below ? 3 : 0)), below), &rule)
            << path << " has two rows";
      }
    }
  }
}

TEST_F(NodeTest, ARefusedPodFailsBeforeAnythingIsMade) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "serve").spec("hostPID", "true"));
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "Failed");
  const auto status = (*pod("p"))["status"];
  EXPECT_EQ(status["reason"].as_string(), "UnsupportedField");
  EXPECT_TRUE(status["message"].as_string().starts_with("spec.hostPID: true cannot be obeyed"));
  EXPECT_TRUE(status["containerStatuses"].is_null());
  const auto& condition = api::condition_of(*pod("p"), api::kCannotStart);
  EXPECT_EQ(condition["status"].as_string(), "True");
  EXPECT_EQ(condition["reason"].as_string(), api::cannot_start::kRefused);
  EXPECT_EQ(event_message("UnsupportedField"), status["message"].as_string());
  EXPECT_EQ(runtime.history, std::vector<std::string>{"remove " + uid});
  EXPECT_TRUE(runtime.pods.empty());
  restart();
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(runtime.starts_of(uid, "main"), 0);
}

TEST_F(NodeTest, WhatRunsAlreadyIsNotRefused) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "serve"));
  loop.run_for(1s);
  auto changed = *pod("p");
  changed["spec"]["ephemeralContainers"] = parse(R"([{"name":"debug"}])");
  cluster.put(api::pods(), changed);
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_TRUE(event_message("UnsupportedField").starts_with("spec.ephemeralContainers"));
  restart();
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
}

// --- from the security contexts to what the runtime is asked for

ContainerSpec started(FakeRuntime& runtime, const std::string& uid) {
  auto* process = runtime.find(uid, "main", 0);
  EXPECT_NE(process, nullptr);
  return process == nullptr ? ContainerSpec{} : process->spec;
}

constexpr std::uint64_t bit(unsigned number) {
  return std::uint64_t{1} << number;
}

TEST_F(NodeTest, ARestrictedPodIsRestricted) {
  start();
  const auto uid = create(
      PodBuilder("p")
          .container("main", "serve",
                     R"({"securityContext":{"allowPrivilegeEscalation":false,
                         "readOnlyRootFilesystem":true,
                         "capabilities":{"drop":["ALL"],"add":["NET_BIND_SERVICE"]}}})")
          .spec("securityContext", R"({"runAsNonRoot":true,"runAsUser":1000,"runAsGroup":2000,
                                       "supplementalGroups":[3000],"fsGroup":4000,
                                       "seccompProfile":{"type":"RuntimeDefault"}})"));
  loop.run_for(1s);
  ASSERT_EQ(phase("p"), "Running");
  const auto spec = started(runtime, uid);
  EXPECT_EQ(spec.uid, 1000U);
  EXPECT_EQ(spec.gid, 2000U);
  EXPECT_EQ(spec.supplementary_groups, (std::vector<std::uint32_t>{3000, 4000}));
  EXPECT_TRUE(spec.no_new_privileges);
  EXPECT_TRUE(spec.read_only_root);
  EXPECT_FALSE(spec.privileged);
  EXPECT_EQ(spec.capabilities, bit(10));
  EXPECT_EQ(spec.seccomp, ContainerSpec::Seccomp::RuntimeDefault);
}

TEST_F(NodeTest, WithoutAContextAContainerIsTheUsualOne) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "serve"));
  loop.run_for(1s);
  const auto spec = started(runtime, uid);
  EXPECT_EQ(spec.uid, std::nullopt);
  EXPECT_EQ(spec.capabilities, std::nullopt);
  EXPECT_FALSE(spec.no_new_privileges || spec.read_only_root || spec.privileged);
  EXPECT_EQ(spec.seccomp, ContainerSpec::Seccomp::Unconfined);
}

TEST_F(NodeTest, TheContainersWordGoesBeforeThePods) {
  start();
  const auto uid =
      create(PodBuilder("p")
                 .container("main", "serve",
                            R"({"securityContext":{"runAsUser":7,"runAsNonRoot":false,
                                "seccompProfile":{"type":"Unconfined"}}})")
                 .spec("securityContext", R"({"runAsUser":0,"runAsGroup":8,"runAsNonRoot":true,
                                              "seccompProfile":{"type":"RuntimeDefault"}})"));
  loop.run_for(1s);
  const auto spec = started(runtime, uid);
  EXPECT_EQ(spec.uid, 7U);
  EXPECT_EQ(spec.gid, 8U);
  EXPECT_EQ(spec.seccomp, ContainerSpec::Seccomp::Unconfined);
}

TEST_F(NodeTest, CapabilitiesAreCountedAsRuntimesDo) {
  start();
  const auto mask = [this](const char* name, const char* capabilities) {
    const auto uid = create(PodBuilder(name).container(
        "main", "serve",
        fmt::format(R"({{"securityContext":{{"capabilities":{}}}}})", capabilities)));
    loop.run_for(1s);
    return started(runtime, uid).capabilities.value_or(0);
  };
  EXPECT_EQ(mask("a", R"({"add":["CAP_NET_ADMIN"]})"), kUsualRights | bit(12));
  EXPECT_EQ(mask("b", R"({"drop":["KILL"]})"), kUsualRights & ~bit(5));
  EXPECT_EQ(mask("c", R"({"add":["ALL"],"drop":["SYS_ADMIN"]})"), all_capabilities() & ~bit(21));
  EXPECT_EQ(mask("d", R"({"drop":["ALL"]})"), 0U);
  EXPECT_EQ(all_capabilities(), bit(41) - 1);
  EXPECT_FALSE((kUsualRights & bit(27)) != 0) << "devices are not made";
}

TEST_F(NodeTest, NonRootMeansThatNobodyIsRoot) {
  start();
  create(PodBuilder("none").container("main", "serve",
                                      R"({"securityContext":{"runAsNonRoot":true}})"));
  create(PodBuilder("zero").container(
      "main", "serve", R"({"securityContext":{"runAsNonRoot":true,"runAsUser":0}})"));
  loop.run_for(1s);
  EXPECT_EQ(waiting("none", "main"), "CreateContainerConfigError");
  EXPECT_TRUE(status("none", "main")["state"]["waiting"]["message"].as_string().starts_with(
      "container has runAsNonRoot and image will run as root (pod: \"none_default("));
  EXPECT_TRUE(status("zero", "main")["state"]["waiting"]["message"].as_string().starts_with(
      "container's runAsUser breaks non-root policy"));
  EXPECT_EQ(condition("none", std::string(api::kCannotStart)), "True") << "no try will succeed";
}

TEST_F(NodeTest, TheSandboxGetsWhatThePodShares) {
  start();
  const auto uid = create(
      PodBuilder("p")
          .container("main", "serve", R"({"securityContext":{"privileged":true}})")
          .spec("hostIPC", "true")
          .spec("subdomain", R"("ranks")")
          .spec("setHostnameAsFQDN", "true")
          .spec("securityContext",
                R"({"sysctls":[{"name":"net/ipv4/ip_unprivileged_port_start","value":"0"}]})"));
  const auto named = create(
      PodBuilder("q").container("main", "serve").spec("hostnameOverride", R"("other.example")"));
  loop.run_for(1s);
  const auto& spec = runtime.pods.at(uid).spec;
  EXPECT_TRUE(spec.host_ipc);
  EXPECT_EQ(spec.hostname, "p.ranks.default.svc.cluster.local");
  EXPECT_EQ(runtime.pods.at(named).spec.hostname, "other.example");
  const std::vector<std::pair<std::string, std::string>> sysctls{
      {"net.ipv4.ip_unprivileged_port_start", "0"}};
  EXPECT_EQ(spec.sysctls, sysctls);
  EXPECT_TRUE(started(runtime, uid).privileged);
}

}  // namespace
}  // namespace muster::node
