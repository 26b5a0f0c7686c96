#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/dialect.h"

namespace muster::cli {

// A kind with a status like no other's: {state: "DONE"}. It has as many ranks as spec.ranks says.
class ToyKind final : public plan::Dialect {
 public:
  ToyKind(std::string kind, std::string group, std::string version = "v1") {
    std::string singular;
    for (const char letter : kind)
      singular += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    identity_.resource = {.group = std::move(group),
                          .version = std::move(version),
                          .plural = singular + "s",
                          .kind = std::move(kind)};
    identity_.short_names = {singular.substr(0, 2)};
    identity_.singular = std::move(singular);
  }

  [[nodiscard]] const plan::Identity& identity() const override { return identity_; }
  [[nodiscard]] std::vector<FieldCause> validate(const json::Value&) const override { return {}; }
  [[nodiscard]] Result<plan::Plan> compile(const json::Value& job) const override {
    plan::Plan plan;
    plan.job = {.resource = identity_.resource};
    plan.roles.push_back(
        {.name = "Rank", .replicas = static_cast<int>(job["spec"]["ranks"].as_int())});
    return plan;
  }
  [[nodiscard]] json::Value schema() const override { return json::Object{{"type", "object"}}; }
  [[nodiscard]] bool manages(const json::Value&) const override { return true; }
  [[nodiscard]] json::Value status(const plan::Plan&, const json::Value& stored,
                                   const plan::Verdict&, Time) const override {
    return stored;
  }
  [[nodiscard]] plan::StoredPhase phase_of(const json::Value& status) const override {
    const std::string& state = status["state"].as_string();
    const auto phase = state == "GOING"    ? plan::Phase::Running
                       : state == "HELD"   ? plan::Phase::Suspended
                       : state == "DONE"   ? plan::Phase::Succeeded
                       : state == "BROKEN" ? plan::Phase::Failed
                                           : plan::Phase::Created;
    return {.phase = phase, .reason = "Toy" + state, .message = status["remark"].as_string()};
  }
  [[nodiscard]] std::optional<plan::EventText> event_for(const plan::JobRef&,
                                                         const plan::Note&) const override {
    return std::nullopt;
  }

  // A job of this kind.
  [[nodiscard]] json::Value job(const std::string& name) const {
    return json::Object{{"apiVersion", identity_.resource.api_version()},
                        {"kind", identity_.resource.kind},
                        {"metadata", json::Object{{"name", name}, {"namespace", "default"}}},
                        {"spec", json::Object{{"ranks", 4}}}};
  }

 private:
  plan::Identity identity_;
};

}  // namespace muster::cli
