// Keys of jobs: made by the controller, and never looked at again.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "controller/keys/key_data.h"
#include "controller/keys/ssh_key.h"
#include "json/write.h"
#include "kinds_fixture.h"

namespace muster::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::string decoded(const json::Value& secret, const std::string& name) {
  return base64_decode(secret["data"][name].as_string()).value_or("not base64");
}

json::Value filled(plan::Source source, std::uint64_t seed) {
  SeededRng rng(seed);
  json::Value secret = json::Object{{"kind", "Secret"}};
  EXPECT_TRUE(add_keys(source, rng, secret).has_value());
  return secret;
}

TEST(Keys, ASharedKeyIs32BytesInHexDigits) {
  const json::Value secret = filled(plan::Source::SharedKey, 1);
  EXPECT_THAT(decoded(secret, "key"), MatchesRegex("[0-9a-f]{64}"));
  EXPECT_TRUE(secret["immutable"].as_bool());
  EXPECT_EQ(secret, filled(plan::Source::SharedKey, 1)) << "a simulation repeats itself";
  EXPECT_NE(secret, filled(plan::Source::SharedKey, 2));
}

TEST(Keys, OfSshTheHostKeyIsPinnedForAllNames) {
  const json::Value secret = filled(plan::Source::SshKeys, 1);
  EXPECT_THAT(secret["data"].as_object(), SizeIs(6));
  const std::string host = decoded(secret, "host_key.pub");
  EXPECT_THAT(host, MatchesRegex("ssh-ed25519 [A-Za-z0-9+/=]{68} host\n"));
  EXPECT_EQ(decoded(secret, "known_hosts"), "* " + host.substr(0, host.rfind(' ')) + "\n");
  EXPECT_EQ(decoded(secret, "authorized_keys"), decoded(secret, "ssh-publickey"));
  EXPECT_NE(decoded(secret, "ssh-publickey").substr(0, 80), host.substr(0, 80));
}

// What the real program says of a file.
std::string keygen(const std::string& arguments) {
  std::string said;
  FILE* out = popen(("ssh-keygen " + arguments + " 2>&1").c_str(), "r");
  char part[256];
  while (fgets(part, sizeof part, out) != nullptr) said += part;
  pclose(out);
  return said;
}

class KeyFiles : public ::testing::Test {
 protected:
  KeyFiles() {
    std::string pattern = ::testing::TempDir() + "keysXXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~KeyFiles() override { std::filesystem::remove_all(directory_); }
  std::string write(const std::string& name, const std::string& text) {
    std::string path = directory_ + "/" + name;
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    return path;
  }
  std::string directory_;
};

TEST_F(KeyFiles, OpenSshReadsThem) {
  if (std::system("command -v ssh-keygen >/dev/null") != 0) GTEST_SKIP() << "no ssh-keygen";
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {  // padding differs with the comment only
    const json::Value secret = filled(plan::Source::SshKeys, seed);
    for (const auto& [file, whole] :
         {std::pair{"ssh-privatekey", "ssh-publickey"}, std::pair{"host_key", "host_key.pub"}}) {
      const std::string path = write(fmt::format("{}{}", file, seed), decoded(secret, file));
      const std::string derived = keygen("-y -f " + path);
      EXPECT_EQ(derived, decoded(secret, whole)) << "the public key that follows from it";
      EXPECT_THAT(keygen("-l -f " + path), MatchesRegex("256 SHA256:[^ ]* .* \\(ED25519\\)\n"));
    }
    const std::string hosts =
        write(fmt::format("known_hosts{}", seed), decoded(secret, "known_hosts"));
    const std::string found = keygen("-F train-worker-3.train-worker -f " + hosts);
    EXPECT_THAT(found, HasSubstr(decoded(secret, "host_key.pub").substr(0, 80)));
    EXPECT_THAT(keygen("-l -f " + hosts), StartsWith("256 SHA256:"));
  }
}

TEST(SshKeys, OfAnyCommentHaveWholeBlocks) {
  SeededRng rng(1);
  for (int length = 0; length < 9; ++length) {
    const auto key = SshKey::make(rng, std::string(static_cast<std::size_t>(length), 'c'));
    ASSERT_TRUE(key.has_value());
    const auto lines = split(key->private_key.reveal(), '\n');
    std::string body;
    for (std::size_t i = 1; i + 2 < lines.size(); ++i) body += lines[i];
    const auto bytes = base64_decode(body);
    ASSERT_TRUE(bytes.has_value());
    // Magic and ciphers 39 bytes, one key of 51 and a length; the rest is the private part.
    EXPECT_EQ((bytes->size() - 15 - 8 - 8 - 4 - 4 - 4 - 51 - 4) % 8, 0U) << length;
  }
}

class SecretsTest : public KindsTest {
 protected:
  SecretsTest() {
    identity_ = toy("a.example");
    identity_.children = {};
    identity_.makes_secrets = true;
    add(identity_, [](plan::Plan& plan) {
      const plan::ObjectId key{api::secrets(), plan.job.name + "-mpi-" + plan.job.uid};
      plan.objects = {{.id = key,
                       .body = json::Object{{"apiVersion", "v1"}, {"kind", "Secret"}},
                       .source = plan::Source::SharedKey}};
      for (plan::Role& role : plan.roles) role.after = {key};
    });
    start();
    submit(identity_, "train");
  }
  api::ObjectPtr secret() {
    const auto secrets = all(api::secrets());
    EXPECT_THAT(secrets, SizeIs(1));
    return secrets.empty() ? nullptr : secrets.front();
  }

  plan::Identity identity_;
};

TEST_F(SecretsTest, AJobsKeyIsThereBeforeItsPods) {
  const auto job = get(identity_.resource, "train");
  const auto made = secret();
  EXPECT_EQ(api::name_of(*made), "train-mpi-" + api::uid_of(*job));
  EXPECT_EQ(api::controller_uid_of(*made), api::uid_of(*job));
  EXPECT_THAT(decoded(*made, "key"), SizeIs(64));
  EXPECT_THAT(pods(), ElementsAre("train-worker-0"));
  const auto version = [](const api::ObjectPtr& object) {
    return std::stoll(api::resource_version_of(*object));
  };
  EXPECT_LT(version(made), version(get(api::pods(), "train-worker-0")));
}

TEST_F(SecretsTest, AnotherProcessFindsItThereAndChangesNothing) {
  const auto before = secret();
  restart();
  must(cluster_->remove(api::pods(), {.ns = "default", .name = "train-worker-0"}, {}));
  loop_.run_for(6s);
  EXPECT_THAT(pods(), ElementsAre("train-worker-0")) << "made by a process that did not know it";
  EXPECT_EQ(*secret(), *before);
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(SecretsTest, NothingOfItIsInStatusEventsOrLog) {
  const std::string key = decoded(*secret(), "key");
  const std::string encoded = (*secret())["data"]["key"].as_string();
  for (const auto& resource : {identity_.resource, api::events(), api::pods()}) {
    for (const auto& object : all(resource)) {
      EXPECT_EQ(json::write(*object).find(key), std::string::npos);
      EXPECT_EQ(json::write(*object).find(encoded), std::string::npos);
    }
  }
  for (const std::string& line : said_) EXPECT_EQ(line.find(key), std::string::npos);
}

TEST_F(SecretsTest, GoesWithItsJob) {
  must(cluster_->remove(identity_.resource, {.ns = "default", .name = "train"}, {}));
  loop_.run_for(10s);
  EXPECT_THAT(all(api::secrets()), IsEmpty());
}

TEST_F(SecretsTest, IsNeverListedWatchedOrRead) {
  EXPECT_EQ(front_->asked.count("secrets"), 0U);
}

}  // namespace
}  // namespace muster::controller
