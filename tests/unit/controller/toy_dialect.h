#pragma once

#include <utility>

#include "unit/controller/fixture.h"

namespace muster::controller {

// A kind of its own group, version or children that otherwise behaves like a real one.
class ToyDialect final : public LenientDialect {
 public:
  using Change = std::function<void(plan::Plan&)>;

  ToyDialect(const plan::Dialect& real, plan::Identity identity, Change change = nullptr)
      : LenientDialect(real), identity_(std::move(identity)), change_(std::move(change)) {}

  [[nodiscard]] const plan::Identity& identity() const override { return identity_; }
  [[nodiscard]] Result<plan::Plan> compile(const json::Value& job) const override {
    json::Value real = job;
    real["apiVersion"] = real_.identity().resource.api_version();
    real["kind"] = real_.identity().resource.kind;
    plan::Plan plan = TRY(real_.compile(real));
    plan.job.resource = identity_.resource;
    if (change_) change_(plan);
    return plan;
  }

 private:
  plan::Identity identity_;
  Change change_;
};

}  // namespace muster::controller
