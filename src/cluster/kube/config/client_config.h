#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"
#include "cluster/kube/config/exec_plugin.h"
#include "cluster/kube/config/files.h"
#include "net/tunnel.h"

namespace muster::cluster::kube {

// Where an API server listens: TLS on a host and port, or a UNIX socket of this machine.
struct Server {
  std::string host;  // without brackets; empty for a socket
  std::uint16_t port = 0;
  std::string socket_path;  // not empty: HTTP/1.1 over this socket
  std::string prefix;       // in front of every path; "" or "/something"

  [[nodiscard]] bool is_socket() const { return !socket_path.empty(); }
  // host:port as it stands in a Host header; "localhost" for a socket.
  [[nodiscard]] std::string authority() const;
};

// https://host[:port][/prefix] or unix:///path/to/socket.
Result<Server> parse_server(std::string_view url);

// Everything that a client needs to talk to one cluster as one user. Plain data. Certificates are
// the PEM bytes themselves; the files that they and a token came from are named beside them,
// because whoever issues them puts new ones there.
struct ClientConfig {
  std::string context;  // its name, for messages; "in-cluster" inside a pod
  std::string ns = "default";
  Server server;

  std::optional<net::HttpProxy> proxy;  // on the way to the server

  std::string ca_pem;  // empty: the system's roots
  std::string ca_file;
  std::string tls_server_name;  // empty: the host
  bool insecure = false;        // the server's certificate is not verified

  std::string client_certificate_pem;
  Secret client_key_pem;
  std::string client_certificate_file;
  std::string client_key_file;

  Secret token;
  std::string token_file;  // wins over `token`

  std::optional<ExecPlugin> exec;  // asked for a token, a certificate, or both
};

// A token travels in a header: one line of visible characters, or somebody could add headers of
// theirs.
bool is_token(std::string_view token);

// What a pod's service account gives. The caller hands in KUBERNETES_SERVICE_HOST and _PORT.
Result<ClientConfig> in_cluster_config(std::string_view service_host, std::string_view service_port,
                                       const FileReader& files);

}  // namespace muster::cluster::kube
