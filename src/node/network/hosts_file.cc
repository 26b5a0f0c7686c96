#include "node/network/hosts_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "base/fd.h"
#include "node/network/endpoints.h"
#include "node/pod/container/container_spec.h"

namespace muster::node {

namespace {

// Tools look for the first line; it is the kubelet's own.
constexpr std::string_view kHead =
    "# Kubernetes-managed hosts file.\n"
    "127.0.0.1\tlocalhost\n"
    "::1\tlocalhost ip6-localhost ip6-loopback\n"
    "fe00::0\tip6-localnet\n"
    "fe00::0\tip6-mcastprefix\n"
    "fe00::1\tip6-allnodes\n"
    "fe00::2\tip6-allrouters\n";

// The long name first: it becomes the canonical one.
std::vector<std::string> names_in(std::string_view name, std::string_view ns,
                                  std::string_view domain) {
  return {fmt::format("{}.{}.svc.{}", name, ns, domain), fmt::format("{}.{}.svc", name, ns),
          fmt::format("{}.{}", name, ns), std::string(name)};
}

void add_line(std::string& out, std::string_view ip, const std::vector<std::string>& names) {
  out += ip;
  out += '\t';
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += ' ';
    out += names[i];
  }
  out += '\n';
}

void add_pods(std::string& out, std::string_view ns, const std::vector<Peer>& pods,
              std::string_view domain) {
  std::map<std::string, int> hostnames;
  for (const auto& [pod, reach] : pods) ++hostnames[hostname_of(*pod)];
  for (const auto& [pod, reach] : pods) {
    if (reach.address.empty()) continue;
    std::vector<std::string> names;
    const auto hostname = hostname_of(*pod);
    const auto& subdomain = (*pod)["spec"]["subdomain"].as_string();
    if (!subdomain.empty()) names = names_in(hostname + "." + subdomain, ns, domain);
    names.push_back(api::name_of(*pod));
    // A host name that two pods share would lead to either.
    if (hostname != names.back() && hostnames[hostname] == 1) names.push_back(hostname);
    add_line(out, reach.address, names);
  }
}

void add_service(std::string& out, const json::Value& service, SelectablePods& pods,
                 std::string_view domain) {
  const auto key = api::key_of(service);
  const auto names = names_in(key.name, key.ns, domain);
  const auto& ip = service["spec"]["clusterIP"].as_string();
  if (ip.empty()) return;
  if (ip != "None") {
    add_line(out, ip, names);
    return;
  }
  for (const auto& pod : pods.selected_by(service)) {
    if (serves(service, pod)) add_line(out, pod.reach.address, names);
  }
}

}  // namespace

std::string render_hosts(std::string_view ns, const std::vector<Peer>& pods,
                         const std::vector<api::ObjectPtr>& services,
                         std::string_view cluster_domain, std::string_view host_name) {
  std::vector<Peer> own;
  for (const auto& pod : pods) {
    if (api::namespace_of(*pod.pod) == ns && !pod.reach.finished) own.push_back(pod);
  }
  std::string out(kHead);
  add_pods(out, ns, own, cluster_domain);
  const auto hosted = std::ranges::find_if(own, [](const Peer& pod) {
    return (*pod.pod)["spec"]["hostNetwork"].as_bool() && !pod.reach.address.empty();
  });
  if (hosted != own.end() && !host_name.empty())
    add_line(out, hosted->reach.address, {std::string(host_name)});
  SelectablePods selectable(own);
  for (const auto& service : services) {
    const auto key = api::key_of(*service);
    if (key.ns == ns) add_service(out, *service, selectable, cluster_domain);
    const bool master = key.ns == "default" && key.name == "kubernetes" && ns != "default";
    const auto& ip = (*service)["spec"]["clusterIP"].as_string();
    if (master && !ip.empty()) {
      auto names = names_in(key.name, key.ns, cluster_domain);
      names.pop_back();  // the short name is only for its own namespace
      add_line(out, ip, names);
    }
  }
  return out;
}

Result<void> rewrite_in_place(const std::string& path, std::string_view text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!file.valid()) return fail_errno("open " + path);
  std::size_t written = 0;
  while (written < text.size()) {
    const auto count = ::pwrite(file.get(), text.data() + written, text.size() - written,
                                static_cast<off_t>(written));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("write " + path);
    written += static_cast<std::size_t>(count);
  }
  // Shortened last: a reader in between sees old lines at the end, never a half-empty file.
  if (::ftruncate(file.get(), static_cast<off_t>(text.size())) < 0) {
    return fail_errno("truncate " + path);
  }
  return {};
}

}  // namespace muster::node
