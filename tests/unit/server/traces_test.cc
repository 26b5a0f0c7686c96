#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "home.h"
#include "rt/real_loop.h"
#include "support.h"

// What a Secret held is in no file of a home once it is deleted or replaced.
namespace muster::server {
namespace {

class Traces : public testing::Test {
 protected:
  Traces() { open(); }
  ~Traces() override { close(); }

  void open() {
    auto made = loop_.run(EmbeddedServer::create(
        {.loop = loop_, .pool = &pool_, .rng = rng_, .registry = registry_, .home = home_.path()}));
    ASSERT_TRUE(made) << made.error().message;
    server_ = std::move(*made);
  }
  void close() {
    if (server_ != nullptr) loop_.run(server_->close());
    server_.reset();
  }
  const Kind& secrets() { return *server_->core().kinds().find(api::secrets()); }
  static json::Value secret(const char* name, const std::string& value) {
    json::Value made = parse(R"({"type":"Opaque"})");
    made["metadata"]["name"] = name;
    made["metadata"]["namespace"] = "default";
    made["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = value;
    made["data"]["key"] = value;
    return made;
  }
  std::string files_with(const std::string& text) const {
    std::string found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home_.path())) {
      if (!entry.is_regular_file()) continue;
      std::string bytes(entry.file_size(), '\0');
      std::ifstream(entry.path(), std::ios::binary)
          .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      if (bytes.contains(text)) found += entry.path().filename().string() + " ";
    }
    return found;
  }
  void pause() {
    [[maybe_unused]] const auto slept =
        loop_.run(rt::sleep_for(loop_, std::chrono::milliseconds(10)));
  }
  // The store does it when nothing else is to do.
  std::string files_with_at_last(const std::string& text) {
    for (int tries = 0; tries < 500 && !files_with(text).empty(); ++tries) pause();
    return files_with(text);
  }

  Home home_;
  rt::RealLoop loop_;
  rt::Pool pool_{1};
  SystemRng rng_;
  plan::Registry registry_;
  std::unique_ptr<EmbeddedServer> server_;
};

// Base64 of something: of a few bytes, and of some pages.
std::string value_of(std::size_t length) {
  std::string out = "U2VjcmV0QnV0RGVsZXRlZA";
  while (out.size() < length) out += "U2VjcmV0QnV0RGVsZXRlZA";
  return out.substr(0, length / 4 * 4);
}

TEST_F(Traces, ADeletedSecretIsInNoFile) {
  for (const std::size_t length : {std::size_t{40}, std::size_t{3'000}, std::size_t{60'000}}) {
    const std::string value = value_of(length);
    const auto made = loop_.run(server_->core().create(secrets(), secret("s", value)));
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_NE(files_with("U2VjcmV0QnV0"), "") << "it was never there";
    for (int i = 0; i < 30; ++i)
      ASSERT_TRUE(loop_.run(server_->core().create(
          *server_->core().kinds().find(api::config_maps()),
          config_map(fmt::format("other-{}-{}", length, i), std::string(500, 'x')))));
    ASSERT_TRUE(loop_.run(server_->core().remove(secrets(), {.ns = "default", .name = "s"}, {})));
    EXPECT_EQ(files_with_at_last("U2VjcmV0QnV0"), "") << length;
  }
}

TEST_F(Traces, AReplacedValueIsInNoFile) {
  const std::string value = value_of(400);
  auto made = loop_.run(server_->core().create(secrets(), secret("s", value)));
  ASSERT_TRUE(made) << made.error().message;
  json::Value changed = **made;
  changed["data"]["key"] = "bmV3";
  changed["metadata"].object().erase("annotations");
  ASSERT_TRUE(loop_.run(server_->core().update(secrets(), changed)));
  EXPECT_EQ(files_with_at_last("U2VjcmV0QnV0"), "");
  EXPECT_NE(files_with("bmV3"), "");
}

TEST_F(Traces, AWatchThatComesBackIsToldOfTheDeletionAllTheSame) {
  auto made = loop_.run(server_->core().create(secrets(), secret("s", value_of(400))));
  ASSERT_TRUE(made);
  ASSERT_TRUE(loop_.run(server_->core().remove(secrets(), {.ns = "default", .name = "s"}, {})));
  close();
  open();
  auto watch =
      server_->core().watch(secrets(), {.resource_version = api::resource_version_of(**made)});
  ASSERT_TRUE(watch) << watch.error().message;
  const auto event = loop_.run((*watch)->next());
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, EventType::Deleted);
  EXPECT_EQ(api::name_of(*event->object), "s");
  EXPECT_TRUE((*event->object)["data"].is_null());
  watch->reset();
}

}  // namespace
}  // namespace muster::server
