#include "cluster/kube/config/kubeconfig.h"

#include <array>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "cluster/kube/config/entry_reader.h"
#include "cluster/kube/config/proxy.h"
#include "json/value.h"
#include "yaml/yaml.h"

namespace muster::cluster::kube {
namespace {

using json::Value;

constexpr yaml::ReadLimits kLimits{.bytes = kMaxConfigFileBytes, .depth = 32, .documents = 1};

// An entry of clusters, users or contexts, with the file that it stands in.
struct Entry {
  Value value;
  std::string file;
};

// A section is called by its list and the member that holds the content: clusters[].cluster.
struct Section {
  std::string_view list;
  std::string_view content;
  std::map<std::string, Entry, std::less<>> entries = {};
};

struct Merged {
  Section clusters{.list = "clusters", .content = "cluster"};
  Section users{.list = "users", .content = "user"};
  Section contexts{.list = "contexts", .content = "context"};
  std::string current_context;
  std::string files;  // those that were read, for messages
};

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::Invalid, std::move(message));
}

Result<void> merge_section(Section& into, const Value& document, const std::string& file) {
  const Value& list = document[into.list];
  if (list.is_null()) return {};
  if (!list.is_array()) {
    return invalid(fmt::format("{}: {} is {}, it must be a list of {{name, {}}}", file, into.list,
                               list.type_name(), into.content));
  }
  std::map<std::string, Entry, std::less<>> own;
  for (std::size_t i = 0; i < list.as_array().size(); ++i) {
    const Value& item = list[i];
    const std::string& name = item["name"].as_string();
    if (name.empty()) {
      return invalid(
          fmt::format("{}: {}[{}].name is missing, every entry needs one", file, into.list, i));
    }
    if (!item[into.content].is_object() && !item[into.content].is_null()) {
      return invalid(fmt::format("{}: {}[{}].{} is {}, it must be a mapping", file, into.list, i,
                                 into.content, item[into.content].type_name()));
    }
    if (!own.try_emplace(name, Entry{item[into.content], file}).second) {
      return invalid(fmt::format("{}: {} has two entries named {}", file, into.list, quoted(name)));
    }
  }
  into.entries.merge(own);  // what is there already stays: the first file wins
  return {};
}

Result<void> merge_file(Merged& into, const std::string& path, const std::string& text) {
  auto documents = yaml::read(text, kLimits);
  if (!documents) return fail(documents.error().in(path));
  if (documents->empty()) return {};
  const Value& document = documents->front().value;
  if (!document.is_object()) {
    return invalid(
        fmt::format("{}: holds {}, a kubeconfig is a mapping with clusters, users and contexts",
                    path, document.type_name()));
  }
  if (const auto& kind = document["kind"].as_string(); !kind.empty() && kind != "Config") {
    return invalid(fmt::format("{}: kind is {}, a kubeconfig has kind Config", path, quoted(kind)));
  }
  TRY(merge_section(into.clusters, document, path));
  TRY(merge_section(into.users, document, path));
  TRY(merge_section(into.contexts, document, path));
  if (into.current_context.empty()) into.current_context = document["current-context"].as_string();
  return {};
}

Result<Merged> merge_files(const KubeconfigOptions& options, const FileReader& files) {
  Merged merged;
  std::vector<std::string> read;
  for (const std::string& path : options.paths) {
    auto text = files.read(path);
    if (!text && text.error().code == ErrorCode::NotFound && options.missing == MissingFile::Skip)
      continue;
    if (!text) return fail(text.error().in("kubeconfig"));
    read.push_back(path);
    TRY(merge_file(merged, path, *text));
  }
  if (read.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("no kubeconfig: none of these files exists: {}",
                                                 join(options.paths, ", ")));
  }
  merged.files = join(read, ", ");
  return merged;
}

// Names that exist, for the sentence that says what would be right.
std::string names_of(const Section& section) {
  constexpr std::size_t kShown = 20;
  std::vector<std::string> names;
  for (const auto& [name, entry] : section.entries) {
    if (names.size() == kShown) {
      names.emplace_back("…");
      break;
    }
    names.push_back(quoted(name));
  }
  return names.empty() ? "there is none" : "there are " + join(names, ", ");
}

Result<const Entry*> find(const Section& section, std::string_view name, std::string_view wanted_by,
                          std::string_view files) {
  const auto found = section.entries.find(name);
  if (found == section.entries.end()) {
    return fail(ErrorCode::NotFound,
                fmt::format("{} names {} {}, which is not in {}; {}", wanted_by, section.content,
                            quoted(name), files, names_of(section)));
  }
  return &found->second;
}

EntryReader reader_of(const Entry& entry, std::string_view content, std::string_view name,
                      const FileReader& files) {
  return {entry.value, entry.file, fmt::format("{}: {} {}", entry.file, content, quoted(name)),
          files};
}

Result<void> read_cluster(ClientConfig& into, const EntryReader& cluster, Insecure insecure) {
  if (!cluster.has("server")) {
    return invalid(
        fmt::format("{}: server is missing, it must be https://HOST[:PORT][/PREFIX] or "
                    "unix:///PATH/TO/SOCKET",
                    cluster.where()));
  }
  auto server = parse_server(TRY(cluster.text("server")));
  if (!server) return fail(server.error().in(cluster.where()));
  into.server = std::move(*server);
  if (cluster.has("proxy-url") && !into.server.is_socket()) {
    auto proxy = parse_proxy(TRY(cluster.text("proxy-url")));
    if (!proxy) return fail(proxy.error().in(fmt::format("{}: proxy-url", cluster.where())));
    into.proxy = std::move(*proxy);
  }
  into.ca_pem = TRY(cluster.data_or_file("certificate-authority"));
  into.ca_file = TRY(cluster.file_behind("certificate-authority"));
  TRY(cluster.check_pem("certificate-authority", into.ca_pem));
  into.tls_server_name = TRY(cluster.text("tls-server-name"));
  into.insecure = TRY(cluster.flag("insecure-skip-tls-verify"));
  if (!into.insecure) return {};
  if (!into.ca_pem.empty()) {
    return invalid(
        fmt::format("{}: has insecure-skip-tls-verify and a certificate-authority, only one "
                    "of the two can be meant",
                    cluster.where()));
  }
  if (insecure == Insecure::Refuse) {
    return invalid(
        fmt::format("{}: insecure-skip-tls-verify lets anyone on the way read the credentials; "
                    "put the server's CA into certificate-authority, or pass "
                    "--insecure-skip-tls-verify to accept it",
                    cluster.where()));
  }
  return {};
}

struct Unsupported {
  std::string_view field;
  std::string_view what;
};
constexpr std::array kUnsupported{
    Unsupported{"auth-provider", "an auth provider"},
    Unsupported{"username", "basic authentication"},
    Unsupported{"password", "basic authentication"},
    Unsupported{"as", "impersonation"},
    Unsupported{"as-uid", "impersonation"},
    Unsupported{"as-groups", "impersonation"},
    Unsupported{"as-user-extra", "impersonation"},
};

// What a plugin is told of the cluster, in the spelling of its own interface.
Value cluster_info(const ClientConfig& config, const Value& cluster) {
  Value info = json::Object{{"server", cluster["server"]}};
  if (!config.tls_server_name.empty()) info["tls-server-name"] = config.tls_server_name;
  if (config.insecure) info["insecure-skip-tls-verify"] = true;
  if (!config.ca_pem.empty()) info["certificate-authority-data"] = base64_encode(config.ca_pem);
  if (const Value& proxy = cluster["proxy-url"]; proxy.is_string()) info["proxy-url"] = proxy;
  for (const Value& extension : cluster["extensions"].as_array()) {
    if (extension["name"].as_string() == "client.authentication.k8s.io/exec")
      info["config"] = extension["extension"];
  }
  return info;
}

// A token that is written down needs nobody to ask for one.
Result<void> read_plugin(ClientConfig& into, const EntryReader& user, const Value& entry,
                         const Value& cluster) {
  if (!into.token.empty() || TRY(user.mapping("exec")) == nullptr) return {};
  into.exec = TRY(read_exec_plugin(user, entry["exec"], cluster_info(into, cluster)));
  return {};
}

Result<void> read_user(ClientConfig& into, const EntryReader& user, const FileReader& files) {
  for (const auto& [field, what] : kUnsupported) {
    if (user.has(field)) {
      return invalid(
          fmt::format("{}: {} ({}) is not supported; use client-certificate and client-key, token, "
                      "tokenFile (for a service account: kubectl create token NAME) or exec",
                      user.where(), field, what));
    }
  }
  into.client_certificate_pem = TRY(user.data_or_file("client-certificate"));
  into.client_key_pem = Secret(TRY(user.data_or_file("client-key")));
  into.client_certificate_file = TRY(user.file_behind("client-certificate"));
  into.client_key_file = TRY(user.file_behind("client-key"));
  TRY(user.check_pem("client-certificate", into.client_certificate_pem));
  TRY(user.check_pem("client-key", into.client_key_pem.reveal()));
  if (into.client_certificate_pem.empty() != into.client_key_pem.empty()) {
    return invalid(fmt::format(
        "{}: has only one of client-certificate and client-key, both are needed", user.where()));
  }
  into.token = Secret(TRY(user.text("token")));
  into.token_file = TRY(user.path("tokenFile"));
  if (!into.token_file.empty()) {
    auto token = files.read(into.token_file);
    if (!token) return fail(token.error().in(fmt::format("{}: tokenFile", user.where())));
    into.token = Secret(std::string(trim(*token)));
    if (into.token.empty())
      return invalid(fmt::format("{}: tokenFile {} is empty", user.where(), into.token_file));
  }
  if (!is_token(into.token.reveal())) {
    return invalid(fmt::format(
        "{}: the token holds a space or a control character, a token is one word", user.where()));
  }
  return {};
}

}  // namespace

KubeconfigOptions kubeconfig_files(std::string_view flag, std::string_view environment,
                                   std::string_view home) {
  KubeconfigOptions options;
  if (!flag.empty()) {
    options.paths.emplace_back(flag);
    options.missing = MissingFile::Fail;
    return options;
  }
  for (const auto path : split(environment, ':')) {
    if (!path.empty()) options.paths.emplace_back(path);
  }
  if (options.paths.empty() && !home.empty())
    options.paths.push_back(fmt::format("{}/.kube/config", home));
  return options;
}

Result<ClientConfig> load_kubeconfig(const KubeconfigOptions& options, const FileReader& files) {
  const Merged merged = TRY(merge_files(options, files));
  const std::string& name = options.context.empty() ? merged.current_context : options.context;
  if (name.empty()) {
    return invalid(fmt::format(
        "no context is chosen: current-context is not set in {}; name one with --context; {}",
        merged.files, names_of(merged.contexts)));
  }
  const Entry& context =
      *TRY(find(merged.contexts, name, options.context.empty() ? "current-context" : "--context",
                merged.files));
  const EntryReader reader = reader_of(context, "context", name, files);

  ClientConfig config{.context = name};
  if (auto ns = TRY(reader.text("namespace")); !ns.empty()) config.ns = std::move(ns);
  const std::string cluster_name = TRY(reader.text("cluster"));
  if (cluster_name.empty()) {
    return invalid(fmt::format("{}: cluster is missing, it must name an entry of clusters; {}",
                               reader.where(), names_of(merged.clusters)));
  }
  const Entry& cluster = *TRY(find(merged.clusters, cluster_name, reader.where(), merged.files));
  TRY(read_cluster(config, reader_of(cluster, "cluster", cluster_name, files), options.insecure));

  const std::string user_name = TRY(reader.text("user"));
  if (user_name.empty()) return config;  // anonymous, and a UNIX socket needs nobody
  const Entry& user = *TRY(find(merged.users, user_name, reader.where(), merged.files));
  const EntryReader user_reader = reader_of(user, "user", user_name, files);
  TRY(read_user(config, user_reader, files));
  TRY(read_plugin(config, user_reader, user.value, cluster.value));
  return config;
}

}  // namespace muster::cluster::kube
