#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/object.h"
#include "base/random.h"
#include "json/read.h"
#include "json/write.h"
#include "rt/scope.h"
#include "rt/sim_loop.h"
#include "server/embedded.h"

namespace muster::server {

inline json::Value parse(std::string_view text) {
  auto value = json::read(text);
  EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().message) << " in " << text;
  return value ? std::move(*value) : json::Value();
}

inline api::Resource widgets() {
  return {.group = "test.dev", .version = "v1", .plural = "widgets", .kind = "Widget"};
}

// A job kind for tests: the field of spec, a column as well, must be a positive number.
class WidgetDialect final : public plan::Dialect {
 public:
  explicit WidgetDialect(api::Resource resource = widgets(), std::string field = "size")
      : field_(std::move(field)),
        identity_{.resource = std::move(resource),
                  .singular = "widget",
                  .short_names = {"wd"},
                  .categories = {"all"},
                  .controller_name = "widget-controller",
                  .framework = "widget",
                  .foreign_lease = "",
                  .columns = {{.name = field_, .path = ".spec." + field_, .type = "integer"}}} {}

  [[nodiscard]] const plan::Identity& identity() const override { return identity_; }
  [[nodiscard]] std::vector<FieldCause> validate(const json::Value& job) const override {
    if (job["spec"][field_].as_int() > 0) return {};
    return {
        {.field = "spec." + field_, .reason = "FieldValueInvalid", .message = "must be positive"}};
  }
  [[nodiscard]] Result<plan::Plan> compile(const json::Value&) const override {
    return fail(ErrorCode::Internal, "not compiled in these tests");
  }
  [[nodiscard]] json::Value status(const plan::Plan&, const json::Value& status,
                                   const plan::Verdict&, Time) const override {
    return status;
  }
  [[nodiscard]] json::Value schema() const override { return {}; }
  [[nodiscard]] bool manages(const json::Value&) const override { return true; }
  [[nodiscard]] plan::StoredPhase phase_of(const json::Value&) const override { return {}; }
  [[nodiscard]] std::optional<plan::EventText> event_for(const plan::JobRef&,
                                                         const plan::Note&) const override {
    return std::nullopt;
  }

 private:
  std::string field_;
  plan::Identity identity_;
};

inline json::Value pod(std::string_view name) {
  json::Value made = parse(R"({"spec":{"containers":[{"name":"main","image":"i:1"}]}})");
  made["metadata"]["name"] = name;
  made["metadata"]["namespace"] = "default";
  return made;
}

inline json::Value widget(std::string_view name, int size = 1) {
  json::Value made;
  made["metadata"]["name"] = name;
  made["metadata"]["namespace"] = "default";
  made["spec"]["size"] = size;
  return made;
}

inline json::Value config_map(std::string_view name, std::string_view value = "1") {
  json::Value made;
  made["metadata"]["name"] = name;
  made["metadata"]["namespace"] = "default";
  made["data"]["key"] = value;
  return made;
}

inline json::Value owner(const json::Value& object, bool blocks = false) {
  return api::OwnerReference{.api_version = api::api_version_of(object),
                             .kind = api::kind_of(object),
                             .name = api::name_of(object),
                             .uid = api::uid_of(object),
                             .controller = true,
                             .block_owner_deletion = blocks}
      .to_json();
}

// An embedded server in memory and in virtual time, with calls that run to their end.
class ServerTest : public testing::Test {
 protected:
  explicit ServerTest(std::unique_ptr<const plan::Dialect> another = nullptr) {
    registry_.add(std::make_unique<WidgetDialect>());
    if (another != nullptr) registry_.add(std::move(another));
    auto made = loop_.run(EmbeddedServer::create(
        {.loop = loop_, .rng = rng_, .registry = registry_, .own_node = "this-machine"}));
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
    server_ = std::move(*made);
  }
  ~ServerTest() override { loop_.run(server_->close()); }

  Core& core() { return server_->core(); }
  const Kind& kind(const api::Resource& resource) { return *core().kinds().find(resource); }

  Result<ObjectPtr> create(const api::Resource& resource, json::Value object) {
    return loop_.run(core().create(kind(resource), std::move(object)));
  }
  json::Value make(const api::Resource& resource, json::Value object) {
    auto made = create(resource, std::move(object));
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
    return made ? **made : json::Value();
  }
  Result<ObjectPtr> get(const api::Resource& resource, std::string name,
                        std::string ns = "default") {
    if (!resource.namespaced()) ns.clear();
    return core().get(kind(resource), {.ns = std::move(ns), .name = std::move(name)});
  }
  bool exists(const api::Resource& resource, std::string name, std::string ns = "default") {
    return get(resource, std::move(name), std::move(ns)).has_value();
  }
  Result<ObjectPtr> update(const api::Resource& resource, json::Value object) {
    return loop_.run(core().update(kind(resource), std::move(object)));
  }
  Result<ObjectPtr> update_status(const api::Resource& resource, json::Value object) {
    return loop_.run(core().update_status(kind(resource), std::move(object)));
  }
  Result<ObjectPtr> remove(const api::Resource& resource, std::string name,
                           DeleteOptions options = {}, std::string ns = "default") {
    if (!resource.namespaced()) ns.clear();
    return loop_.run(core().remove(kind(resource), {.ns = std::move(ns), .name = std::move(name)},
                                   std::move(options)));
  }
  Result<ListPage> list(const api::Resource& resource, ListOptions options = {}) {
    return loop_.run(core().list(kind(resource), std::move(options)));
  }
  std::vector<std::string> names(const ListPage& page) {
    std::vector<std::string> all;
    for (const auto& item : page.items) all.push_back(api::name_of(*item));
    return all;
  }
  std::unique_ptr<Watcher> watch(const api::Resource& resource, WatchOptions options = {}) {
    auto made = core().watch(kind(resource), std::move(options));
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
    return std::move(*made);
  }
  // The next event, or the error, or "nothing" when none comes without time passing.
  std::string next(Watcher& from) {
    auto event = loop_.run(rt::with_timeout(loop_, Duration(1), from.next()));
    if (!event)
      return event.error().code == ErrorCode::Timeout ? "nothing"
                                                      : std::string(to_string(event.error().code));
    static constexpr const char* kNames[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"};
    return std::string(kNames[static_cast<int>(event->type)]) + " " + api::name_of(*event->object);
  }
  void settle() { loop_.drain(); }

  rt::SimLoop loop_{Time(std::chrono::seconds(1'790'000'000))};
  SeededRng rng_{7};
  plan::Registry registry_;
  std::unique_ptr<EmbeddedServer> server_;
};

}  // namespace muster::server
