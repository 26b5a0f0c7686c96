#include "cli/doctor/cluster_checks.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kSoon = 14 * 24h;     // to renew a certificate
constexpr Duration kVisibleSkew = 5s;    // the header that we compare with has whole seconds
constexpr Duration kHarmfulSkew = 1min;  // leases, tokens and certificates begin to suffer
constexpr std::string_view kInstall = "kubectl apply --server-side -k deploy";

std::string days_and_hours(Duration duration) {
  return format_age(duration < 0s ? -duration : duration);
}

Finding server(const ClusterFacts& facts) {
  if (!facts.unreachable) {
    return {.check = "server",
            .found = facts.server_version.empty()
                         ? facts.where
                         : fmt::format("{} runs {}", facts.where, facts.server_version)};
  }
  const Error& error = *facts.unreachable;
  Finding out{.health = Health::Error,
              .check = "server",
              .found = fmt::format("{}: {}", facts.where, error.message)};
  if (error.message.contains("certificate has expired"))
    out.remedy = "renew the API server's certificate: kubeadm certs renew apiserver";
  else if (error.message.contains("certificate"))
    out.remedy = "put the CA of this server into the kubeconfig (certificate-authority-data)";
  else
    out.remedy =
        "check server, proxy and network: kubectl cluster-info; another cluster: --context";
  return out;
}

Finding certificate(std::string check, Time ends, Time now, std::string remedy) {
  Finding out{.check = std::move(check), .found = fmt::format("valid until {}", format_time(ends))};
  if (ends > now + kSoon) return out;
  out.remedy = std::move(remedy);
  if (ends > now) {
    out.health = Health::Warning;
    out.found += fmt::format(", {} from now", days_and_hours(ends - now));
  } else {
    out.health = Health::Error;
    out.found = fmt::format("expired {} ago, at {}", days_and_hours(now - ends), format_time(ends));
  }
  return out;
}

Finding clock(const ClusterFacts& facts) {
  // The server wrote its time down some moment before ours was read.
  const Duration skew = *facts.server_time - facts.now;
  const Duration size = skew < 0s ? -skew : skew;
  if (size <= kVisibleSkew) return {.check = "clock", .found = "as the server's, to a few seconds"};
  return {.health = size > kHarmfulSkew ? Health::Error : Health::Warning,
          .check = "clock",
          .found = fmt::format("the server's is {} {} of this machine's", days_and_hours(skew),
                               skew > 0s ? "ahead" : "behind"),
          .remedy = "run a time service on both, as chrony or systemd-timesyncd"};
}

Finding user(const ClusterFacts& facts) {
  if (!facts.refused)
    return {.check = "user", .found = facts.user.empty() ? "known to the server" : facts.user};
  return {
      .health = Health::Error,
      .check = "user",
      .found = fmt::format("the server refuses us: {}", facts.refused->message),
      .remedy = "new credentials for this kubeconfig; kubectl auth whoami shows whose they are"};
}

// A few of them, and how many there are besides.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  if (names.size() <= kShown + 1) return join(names, ", ");
  return fmt::format("{} and {} more", join({names.begin(), names.begin() + kShown}, ", "),
                     names.size() - kShown);
}

std::vector<std::string> names_of(const std::vector<KindFact>& kinds, KindFact::State state) {
  std::vector<std::string> names;
  for (const KindFact& kind : kinds) {
    if (kind.state == state) names.push_back(kind.name);
  }
  return names;
}

void kinds(const ClusterFacts& facts, std::vector<Finding>& out) {
  const auto absent = names_of(facts.kinds, KindFact::State::Absent);
  if (!absent.empty() && absent.size() == facts.kinds.size()) {
    out.push_back({.health = Health::Error,
                   .check = "kinds",
                   .found = "the cluster knows none of Muster's kinds",
                   .remedy = std::string(kInstall)});
    return;
  }
  if (const auto same = names_of(facts.kinds, KindFact::State::Same); !same.empty()) {
    out.push_back(
        {.check = "kinds", .found = fmt::format("{} as this version has them", join(same, ", "))});
  }
  for (const KindFact& kind : facts.kinds) {
    if (kind.state != KindFact::State::Old) continue;
    out.push_back({.health = Health::Error,
                   .check = "kinds",
                   .found = fmt::format("{} is of another version: its CRD lacks {}, which the "
                                        "server drops from jobs",
                                        kind.name, some_of(kind.lacking)),
                   .remedy = "kubectl apply --server-side -k deploy/crds"});
  }
  if (const auto unknown = names_of(facts.kinds, KindFact::State::Unknown); !unknown.empty()) {
    out.push_back({.check = "kinds",
                   .found = fmt::format("{}; of which version only an administrator can see",
                                        join(unknown, ", "))});
  }
  if (!absent.empty()) {
    out.push_back({.health = Health::Warning,
                   .check = "kinds",
                   .found = fmt::format("without {}", join(absent, ", ")),
                   .remedy = std::string(kInstall)});
  }
}

// create, delete trainjobs.example.org; get pods/log
std::string missing_text(const std::vector<RightFact>& rights, bool needed) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> verbs;
  for (const RightFact& right : rights) {
    if (right.allowed || right.needed != needed) continue;
    if (!verbs.contains(right.resource)) order.push_back(right.resource);
    verbs[right.resource].push_back(right.verb);
  }
  std::vector<std::string> parts;
  for (const std::string& resource : order)
    parts.push_back(fmt::format("{} {}", join(verbs[resource], "+"), resource));
  return join(parts, ", ");
}

std::string role_for(const ClusterFacts& facts) {
  std::vector<std::string> resources;
  for (const RightFact& right : facts.rights) {
    if (std::ranges::find(resources, right.resource) == resources.end())
      resources.push_back(right.resource);
  }
  return fmt::format(
      "kubectl -n {0} create role muster-user --verb=get,list,watch,create,update,delete "
      "--resource={1} && kubectl -n {0} create rolebinding muster-user-{2} --role=muster-user "
      "--user={2}",
      facts.ns, join(resources, ","), facts.user.empty() ? "USER" : facts.user);
}

void rights(const ClusterFacts& facts, std::vector<Finding>& out) {
  const std::string needed = missing_text(facts.rights, true);
  const std::string other = missing_text(facts.rights, false);
  if (needed.empty() && other.empty()) {
    out.push_back({.check = "rights", .found = fmt::format("all that jobs in {} need", facts.ns)});
    return;
  }
  // One role mends both.
  out.push_back({.health = needed.empty() ? Health::Warning : Health::Error,
                 .check = "rights",
                 .found = fmt::format("may not, in {}: {}{}{}", facts.ns, needed,
                                      needed.empty() || other.empty() ? "" : ", ", other),
                 .remedy = role_for(facts)});
}

Finding operator_of(const ClusterFacts& facts) {
  if (!facts.leader.empty())
    return {.check = "operator", .found = fmt::format("{} leads", facts.leader)};
  if (facts.leader_unknown) {
    return {.check = "operator", .found = "whether one runs only an administrator can see"};
  }
  return {.health = Health::Warning,
          .check = "operator",
          .found = "nobody holds its lease: jobs wait, unless one runs without --leader-elect",
          .remedy = fmt::format("{}; one that is there says why: kubectl -n muster-system logs "
                                "deploy/muster-operator",
                                kInstall)};
}

}  // namespace

std::vector<Finding> check_cluster(const ClusterFacts& facts) {
  std::vector<Finding> out{server(facts)};
  if (facts.server_certificate_ends) {
    out.push_back(certificate("server's certificate", *facts.server_certificate_ends, facts.now,
                              "renew it: kubeadm certs renew apiserver"));
  }
  if (facts.own_certificate_ends) {
    out.push_back(certificate("own certificate", *facts.own_certificate_ends, facts.now,
                              "a new one for this kubeconfig: kubeadm certs renew admin.conf, or "
                              "from whoever gave it to you"));
  }
  if (facts.server_time) out.push_back(clock(facts));
  if (facts.unreachable) return out;
  out.push_back(user(facts));
  if (facts.refused) return out;
  kinds(facts, out);
  rights(facts, out);
  out.push_back(operator_of(facts));
  return out;
}

}  // namespace muster::cli
