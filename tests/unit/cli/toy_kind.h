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
  [[nodiscard]] json::Value status(const plan::Plan&, const json::Value& status,
                                   const plan::Verdict&, Time) const override {
    return status;
  }
  [[nodiscard]] json::Value invalid_status(const json::Value& job, const Error&,
                                           Time) const override {
    return job["status"];
  }
  [[nodiscard]] std::optional<plan::EventText> word(const plan::JobRef&,
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
