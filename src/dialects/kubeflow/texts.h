#pragma once

#include <optional>
#include <string>

#include "plan/plan.h"
#include "plan/verdict.h"

// Reasons and sentences of conditions, which events repeat; people and their scripts read them.
namespace muster::dialects::kubeflow {

struct Text {
  std::string reason;
  std::string message;
};

// Those of one kind: its name is in most of them.
class Texts {
 public:
  explicit Texts(std::string kind) : kind_(std::move(kind)) {}

  [[nodiscard]] Text created(const plan::JobRef& job) const;
  [[nodiscard]] Text running(const plan::JobRef& job) const;
  [[nodiscard]] Text restarting(const plan::JobRef& job,
                                const std::optional<plan::Cause>& cause) const;
  [[nodiscard]] Text suspended(const plan::JobRef& job) const;
  [[nodiscard]] Text resumed(const plan::JobRef& job) const;
  [[nodiscard]] Text renewed(const plan::JobRef& job) const;
  [[nodiscard]] Text succeeded(const plan::JobRef& job) const;
  [[nodiscard]] Text failed(const plan::JobRef& job, const std::optional<plan::Cause>& cause) const;

 private:
  std::string kind_;
};

}  // namespace muster::dialects::kubeflow
