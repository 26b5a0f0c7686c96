#include "cluster/kube/config/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory_files.h"

namespace muster::cluster::kube {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kBasic = R"(
apiVersion: v1
kind: Config
current-context: main
clusters:
- name: one
  cluster:
    server: https://10.0.0.1:6443/prefix/
    certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==
users:
- name: alice
  user:
    token: s3cr3t-token
contexts:
- name: main
  context: {cluster: one, user: alice, namespace: training}
- name: other
  context: {cluster: one, user: bob}
)";

class Kubeconfig : public ::testing::Test {
 protected:
  Result<ClientConfig> load(std::vector<std::string> paths, std::string context = "",
                            Insecure insecure = Insecure::Refuse) {
    return load_kubeconfig(
        {.paths = std::move(paths), .context = std::move(context), .insecure = insecure}, files_);
  }
  // A kubeconfig with one cluster, user and context, from the inner parts.
  Result<ClientConfig> load_parts(const std::string& cluster, const std::string& user,
                                  Insecure insecure = Insecure::Refuse) {
    files_.files["/home/config"] =
        "current-context: c\nclusters:\n- name: k\n  cluster: " + cluster +
        "\nusers:\n- name: u\n  user: " + user +
        "\ncontexts:\n- name: c\n  context: {cluster: k, user: u}\n";
    return load({"/home/config"}, "", insecure);
  }
  std::string error_of(const std::string& cluster, const std::string& user) {
    const auto config = load_parts(cluster, user);
    return config ? "" : config.error().message;
  }

  MemoryFiles files_;
};

TEST_F(Kubeconfig, ReadsServerAuthorityTokenAndNamespace) {
  files_.files["/c"] = kBasic;
  const auto config = load({"/c"});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->context, "main");
  EXPECT_EQ(config->ns, "training");
  EXPECT_EQ(config->server.host, "10.0.0.1");
  EXPECT_EQ(config->server.port, 6443);
  EXPECT_EQ(config->server.prefix, "/prefix");
  EXPECT_EQ(config->server.authority(), "10.0.0.1:6443");
  EXPECT_EQ(config->ca_pem, "-----BEGIN CERTIFICATE-----\n");
  EXPECT_EQ(config->token.reveal(), "s3cr3t-token");
}

TEST_F(Kubeconfig, TheFirstFileWinsForEachEntryAndForTheCurrentContext) {
  files_.files["/a"] = R"(
current-context: main
users:
- {name: alice, user: {token: from-a}}
contexts:
- {name: main, context: {cluster: one, user: alice}}
)";
  files_.files["/b"] = kBasic;
  const auto config = load({"/missing", "/a", "/b"});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->token.reveal(), "from-a");
  EXPECT_EQ(config->ns, "default");            // the context of /a has none; entries are not mixed
  EXPECT_EQ(config->server.host, "10.0.0.1");  // only /b has it
}

TEST_F(Kubeconfig, AnEmptyFileIsNothing) {
  files_.files["/a"] = "";
  files_.files["/b"] = kBasic;
  EXPECT_TRUE(load({"/a", "/b"}));
}

TEST_F(Kubeconfig, RelativePathsStartAtTheFileThatNamesThem) {
  files_.files["/home/pki/ca.crt"] = "-----BEGIN CERTIFICATE-----\nca";
  files_.files["/home/cert"] = "-----BEGIN CERTIFICATE-----\nmine";
  files_.files["/abs/key"] = "-----BEGIN PRIVATE KEY-----\nkey";
  const auto config = load_parts("{server: 'https://h', certificate-authority: pki/ca.crt}",
                                 "{client-certificate: cert, client-key: /abs/key}");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server.port, 443);
  EXPECT_THAT(config->ca_pem, HasSubstr("ca"));
  EXPECT_THAT(config->client_certificate_pem, HasSubstr("mine"));
  EXPECT_THAT(config->client_key_pem.reveal(), HasSubstr("key"));
}

TEST_F(Kubeconfig, InlineDataWinsOverTheFile) {
  const auto config = load_parts(
      "{server: 'https://h', certificate-authority: nowhere, "
      "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==}",
      "{}");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->ca_pem, "-----BEGIN CERTIFICATE-----\n");
}

TEST_F(Kubeconfig, TheTokenFileWinsOverTheToken) {
  files_.files["/home/token"] = "from-file\n";
  const auto config = load_parts("{server: 'https://h'}", "{token: inline, tokenFile: token}");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->token.reveal(), "from-file");
  EXPECT_EQ(config->token_file, "/home/token");
}

TEST_F(Kubeconfig, AContextWithoutUserIsAnonymous) {
  files_.files["/c"] =
      "contexts: [{name: x, context: {cluster: k}}]\n"
      "clusters: [{name: k, cluster: {server: 'unix:///run/muster/api.sock'}}]\n";
  const auto config = load({"/c"}, "x");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server.socket_path, "/run/muster/api.sock");
  EXPECT_EQ(config->server.authority(), "localhost");
  EXPECT_TRUE(config->token.empty());
}

TEST_F(Kubeconfig, SkippingVerificationNeedsTheFlag) {
  const std::string cluster = "{server: 'https://h', insecure-skip-tls-verify: true}";
  EXPECT_THAT(error_of(cluster, "{}"), AllOf(HasSubstr("/home/config"), HasSubstr("cluster \"k\""),
                                             HasSubstr("--insecure-skip-tls-verify")));
  const auto config = load_parts(cluster, "{}", Insecure::Allow);
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->insecure);
}

TEST_F(Kubeconfig, WhatIsNotSupportedIsNamedTogetherWithWhatIs) {
  for (const char* user : {"{auth-provider: {name: gcp}}", "{username: a, password: b}",
                           "{as: root}", "{as-groups: [a]}"}) {
    EXPECT_THAT(error_of("{server: 'https://h'}", user),
                AllOf(HasSubstr("user \"u\""), HasSubstr("not supported"),
                      HasSubstr("client-certificate"), HasSubstr("tokenFile")))
        << user;
  }
  EXPECT_THAT(error_of("{server: 'https://h', proxy-url: 'socks5://me:s3cr3t@p'}", "{}"),
              AllOf(HasSubstr("cluster \"k\": proxy-url: "), HasSubstr("socks5 proxies are not"),
                    HasSubstr("http://[USER:PASSWORD@]HOST[:PORT]"), Not(HasSubstr("s3cr3t"))));
}

TEST_F(Kubeconfig, AProxyOfTheClusterIsUsedForItsServerAlsoOnThisMachine) {
  const auto config =
      load_parts("{server: 'https://127.0.0.1:6443', proxy-url: 'http://p:3128'}", "{}");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->proxy->host, "p");
  EXPECT_EQ(config->proxy->port, 3128);
  EXPECT_FALSE(load_parts("{server: 'unix:///s', proxy-url: 'http://p'}", "{}")->proxy);
}

TEST_F(Kubeconfig, ErrorsNameTheFileTheEntryAndWhatWouldBeRight) {
  EXPECT_THAT(error_of("{}", "{}"),
              AllOf(HasSubstr("/home/config: cluster \"k\": server is missing")));
  EXPECT_THAT(error_of("{server: 'http://h'}", "{}"), HasSubstr("https://HOST"));
  EXPECT_THAT(error_of("{server: 'https://h', certificate-authority: gone}", "{}"),
              AllOf(HasSubstr("certificate-authority"), HasSubstr("/home/gone")));
  EXPECT_THAT(error_of("{server: 'https://h', certificate-authority-data: '*'}", "{}"),
              HasSubstr("not base64"));
  EXPECT_THAT(error_of("{server: 'https://h', certificate-authority-data: aGk=}", "{}"),
              HasSubstr("not PEM"));
  EXPECT_THAT(error_of("{server: 'https://h'}",
                       "{client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==}"),
              HasSubstr("client-key"));
  EXPECT_THAT(error_of("{server: 'https://h', insecure-skip-tls-verify: 'yes'}", "{}"),
              HasSubstr("true or false"));
  EXPECT_THAT(error_of("{server: 3}", "{}"), HasSubstr("must be a string"));
  files_.files["/c"] = kBasic;
  EXPECT_THAT(load({"/c"}, "nope").error().message,
              AllOf(HasSubstr("--context"), HasSubstr("\"main\", \"other\"")));
  EXPECT_THAT(load({"/c"}, "other").error().message,
              AllOf(HasSubstr("\"bob\""), HasSubstr("\"alice\"")));
  EXPECT_THAT(load({"/nowhere", "/neither"}).error().message, HasSubstr("/nowhere, /neither"));
}

TEST_F(Kubeconfig, MalformedFilesAreErrorsThatNameTheFile) {
  for (const char* text :
       {"[]", "- a", "clusters: 3", "clusters: [{}]", "users: [{name: a, user: 3}]", "kind: Pod",
        "contexts: [{name: a}, {name: a}]", "{", "a: b: c", "current-context: x"}) {
    files_.files["/bad"] = text;
    const auto config = load({"/bad"});
    ASSERT_FALSE(config) << text;
    EXPECT_THAT(config.error().message, HasSubstr("/bad")) << text;
  }
}

TEST_F(Kubeconfig, ErrorsNeverShowATokenOrKey) {
  const std::string message = error_of("{server: 'https://h'}", "{token: \"hush hush\"}");
  EXPECT_THAT(message, AllOf(HasSubstr("token"), Not(HasSubstr("hush"))));
  EXPECT_THAT(error_of("{server: 'https://bob:hush@h'}", "{}"),
              AllOf(HasSubstr("credentials"), Not(HasSubstr("hush"))));
}

TEST_F(Kubeconfig, AMissingFileThatWasNamedIsAnError) {
  auto options = kubeconfig_files("/named", "/a:/b", "/home/me");
  EXPECT_EQ(options.paths, std::vector<std::string>{"/named"});
  EXPECT_FALSE(load_kubeconfig(options, files_));
  EXPECT_EQ(kubeconfig_files("", "/a::/b", "/home/me").paths,
            (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(kubeconfig_files("", "", "/home/me").paths,
            std::vector<std::string>{"/home/me/.kube/config"});
}

TEST(ParseServer, AcceptsWhatItDocuments) {
  EXPECT_EQ(parse_server("https://[::1]:8443")->host, "::1");
  EXPECT_EQ(parse_server("https://[::1]:8443")->authority(), "[::1]:8443");
  EXPECT_EQ(parse_server("https://api.example.com/k8s/clusters/c-1")->prefix, "/k8s/clusters/c-1");
}

TEST(ParseServer, RefusesTheRest) {
  for (const char* url :
       {"", "h", "https://", "https://:1", "https://h:0", "https://h:65536", "https://h:x",
        "https://h/a b", "https://h/?q", "https://[::1", "https://[zz]", "https://[::1]x",
        "unix://rel", "unix://", "ftp://h", "https://a b", "https://h\r\nx"}) {
    EXPECT_FALSE(parse_server(url)) << url;
  }
  EXPECT_FALSE(parse_server("unix:///" + std::string(120, 'a')));
}

TEST(InCluster, ReadsTheServiceAccount) {
  MemoryFiles files;
  const std::string directory = "/var/run/secrets/kubernetes.io/serviceaccount";
  files.files = {{directory + "/token", "jwt\n"},
                 {directory + "/ca.crt", "pem"},
                 {directory + "/namespace", "team\n"}};
  const auto config = in_cluster_config("fd00::1", "443", files);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server.host, "fd00::1");
  EXPECT_EQ(config->ns, "team");
  EXPECT_EQ(config->token.reveal(), "jwt");
  EXPECT_EQ(config->token_file, directory + "/token");
  EXPECT_EQ(in_cluster_config("", "", files).error().code, ErrorCode::NotFound);
  files.files.erase(directory + "/token");
  EXPECT_THAT(in_cluster_config("10.0.0.1", "443", files).error().message, HasSubstr("token"));
}

}  // namespace
}  // namespace muster::cluster::kube
