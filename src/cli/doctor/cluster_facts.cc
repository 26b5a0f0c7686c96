#include "cli/doctor/cluster_facts.h"

#include <time.h>

#include <fmt/format.h>

#include "cli/cluster/kube_client.h"
#include "cli/doctor/crd_difference.h"
#include "cluster/election.h"
#include "cluster/kube/access/kube_connector.h"
#include "cluster/leader.h"
#include "json/read.h"
#include "net/http_client.h"
#include "net/tls/peer_certificate.h"

namespace muster::cli {
namespace {

using cluster::kube::ClientConfig;

// A person waits no longer to hear that a cluster cannot be reached.
constexpr Duration kFirstContact = std::chrono::seconds(3);

api::Resource review_resource(const char* group, const char* plural, const char* kind) {
  return {.group = group,
          .version = "v1",
          .plural = plural,
          .kind = kind,
          .scope = api::Scope::Cluster};
}

const api::Resource& definitions() {
  static const api::Resource resource = review_resource(
      "apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition");
  return resource;
}

json::Value review(const api::Resource& resource, json::Object spec) {
  return json::Object{{"apiVersion", resource.api_version()},
                      {"kind", resource.kind},
                      {"metadata", json::Object{}},
                      {"spec", std::move(spec)}};
}

std::optional<Time> end_of(const std::string& pem) {
  if (pem.empty()) return std::nullopt;
  const auto certificates = net::parse_certificates(pem);
  return certificates ? std::optional(certificates->front().not_after) : std::nullopt;
}

// As nobody in particular: what every server answers, if only with a refusal.
Task<Result<void>> say_hello(Context& context, ClientConfig config, ClusterFacts& facts) {
  const cluster::kube::HostFiles files;
  auto credentials = std::make_shared<cluster::kube::Credentials>(
      context.loop, config, files, std::make_unique<cluster::kube::HostExecRunner>(context.loop));
  auto connector = CO_TRY(
      cluster::kube::kube_connector(context.loop, context.pool, config, credentials, {"http/1.1"}));
  const auto stream = co_await connector->connect();
  if (stream) {
    if (const auto shown = net::certificate_of(**stream))
      facts.server_certificate_ends = shown->not_after;
  }
  net::HttpClient client(context.loop, std::move(connector));
  auto answer = stream ? co_await client.send({.target = config.server.prefix + "/version"})
                       : Result<net::HttpResponse>(fail(stream.error()));
  facts.now = context.loop.now();
  co_await client.close();
  co_await credentials->close();
  if (!answer) co_return fail(answer.error());
  facts.server_time = parse_http_date(std::string(answer->headers.get("Date").value_or("")));
  if (const auto version = json::read(answer->body); version && answer->status == 200)
    facts.server_version = (*version)["gitVersion"].as_string();
  co_return Result<void>{};
}

Task<Result<std::string>> ask_who_we_are(cluster::Cluster& cluster) {
  static const api::Resource resource =
      review_resource("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview");
  const auto answer = co_await cluster.create(resource, review(resource, {}));
  if (answer) co_return (**answer)["status"]["userInfo"]["username"].as_string();
  // Servers before 1.28 do not tell, but they knew us.
  if (answer.error().code == ErrorCode::NotFound || answer.error().code == ErrorCode::Forbidden)
    co_return std::string();
  co_return fail(answer.error());
}

Task<KindFact> look_at_kind(cluster::Cluster& cluster, const plan::Dialect& dialect,
                            std::string ns) {
  const api::Resource& resource = dialect.identity().resource;
  KindFact fact{.name = resource.qualified()};
  const auto crd = co_await cluster.get(definitions(), {.ns = "", .name = resource.qualified()});
  if (crd) {
    fact.lacking = lacking_in(**crd, dialect);
    fact.state = fact.lacking.empty() ? KindFact::State::Same : KindFact::State::Old;
    co_return fact;
  }
  if (crd.error().code == ErrorCode::NotFound) {
    fact.state = KindFact::State::Absent;
    co_return fact;
  }
  // Few may read definitions; whether there is one shows all the same.
  const auto jobs = co_await cluster.list(resource, {.where = {.ns = ns}, .limit = 1});
  if (!jobs && jobs.error().code == ErrorCode::NotFound) fact.state = KindFact::State::Absent;
  co_return fact;
}

Task<RightFact> ask_right(cluster::Cluster& cluster, std::string ns, RightFact right) {
  static const api::Resource resource = review_resource(
      "authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview");
  const auto slash = right.resource.find('/');
  const std::string whole = right.resource.substr(0, slash);
  const auto dot = whole.find('.');
  json::Object wanted{{"namespace", ns}, {"verb", right.verb}, {"resource", whole.substr(0, dot)}};
  if (dot != std::string::npos) wanted["group"] = whole.substr(dot + 1);
  if (slash != std::string::npos) wanted["subresource"] = right.resource.substr(slash + 1);
  const auto answer = co_await cluster.create(
      resource, review(resource, {{"resourceAttributes", std::move(wanted)}}));
  right.allowed = answer && (**answer)["status"]["allowed"].as_bool();
  co_return right;
}

std::vector<RightFact> wanted_rights(const std::vector<KindFact>& kinds) {
  std::vector<RightFact> wanted;
  for (const KindFact& kind : kinds) {
    if (kind.state == KindFact::State::Absent) continue;
    for (const char* verb : {"create", "get", "list", "watch", "delete"})
      wanted.push_back({.verb = verb, .resource = kind.name});
    wanted.push_back({.verb = "update", .resource = kind.name, .needed = false});
  }
  for (const char* verb : {"get", "list", "watch"})
    wanted.push_back({.verb = verb, .resource = "pods"});
  wanted.push_back({.verb = "get", .resource = "pods/log"});
  wanted.push_back({.verb = "list", .resource = "events"});
  wanted.push_back({.verb = "create", .resource = "pods/exec", .needed = false});
  return wanted;
}

Task<void> look_for_leader(cluster::Cluster& cluster, ClusterFacts& facts) {
  // Everywhere, or where it usually is.
  const std::string name = cluster::LeaderOptions{}.name;
  for (const char* ns : {"", "muster-system"}) {
    const auto leases = co_await cluster.list(
        api::leases(), {.where = {.ns = ns, .fields = "metadata.name=" + name}});
    facts.leader_unknown = !leases;
    if (!leases) continue;
    for (const auto& lease : leases->items) {
      facts.leader = cluster::election::holder_of(*lease, facts.server_time.value_or(facts.now));
      if (!facts.leader.empty()) co_return;
    }
    co_return;
  }
}

}  // namespace

std::optional<Time> parse_http_date(const std::string& text) {
  std::tm parts{};
  const char* rest = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (rest == nullptr || *rest != '\0') return std::nullopt;
  // Nanoseconds since 1970 end in 2262.
  if (parts.tm_year < 70 || parts.tm_year > 300) return std::nullopt;
  return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts)));
}

Task<Result<ClusterFacts>> look_at_cluster(Context& context) {
  const ClientConfig config = CO_TRY(client_config(context));
  ClusterFacts facts{.where = describe(config),
                     .ns = context.ns.empty() ? config.ns : context.ns,
                     .now = context.loop.now(),
                     .own_certificate_ends = end_of(config.client_certificate_pem)};
  if (auto said = co_await say_hello(context, config, facts); !said) {
    facts.unreachable = std::move(said).error();
    co_return facts;
  }
  const auto cluster =
      CO_TRY(open_kube(context, config, {.retry = {.first_contact = kFirstContact}}));
  auto user = co_await ask_who_we_are(*cluster);
  if (user) {
    facts.user = std::move(*user);
    for (const auto& dialect : context.registry.all()) {
      if (!dialect->identity().embedded_only)
        facts.kinds.push_back(co_await look_at_kind(*cluster, *dialect, facts.ns));
    }
    for (RightFact& right : wanted_rights(facts.kinds))
      facts.rights.push_back(co_await ask_right(*cluster, facts.ns, std::move(right)));
    co_await look_for_leader(*cluster, facts);
  } else {
    facts.refused = std::move(user).error();
  }
  co_await cluster->close();
  co_return facts;
}

}  // namespace muster::cli
