#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource.h"
#include "base/error.h"
#include "base/time.h"
#include "json/value.h"
#include "plan/ledger.h"
#include "plan/plan.h"
#include "plan/unknown_field.h"
#include "plan/verdict.h"

namespace muster::plan {

// How a kind appears in discovery and in its CRD, and what its jobs consist of.
struct Identity {
  api::Resource resource;
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::string controller_name;          // event source
  std::string framework;                // metrics label
  std::string foreign_lease;            // of the operator that we replace; empty: none
  std::string foreign_finalizer;        // which it put on jobs: nobody else would take it off
  std::vector<api::Resource> children;  // beside pods: what plans of this kind may hold
  // The same, of API groups that a server need not have: a job whose plan holds one waits there.
  std::vector<api::Resource> optional_children;
  bool makes_secrets = false;  // plans may hold Objects that are secret
  // Printer columns; Age is always added last.
  struct Column {
    std::string name;
    std::string path;  // empty: Dialect::cell says it; only where no CRD has to
    std::string type;
    int priority = 0;  // above 0: only with -o wide
  };
  std::vector<Column> columns;
  // What `kubectl scale` reads and writes; empty: the kind cannot be scaled.
  std::string scale_spec_path;
  std::string scale_status_path;
  // Kubernetes has it built in, with a controller of its own: we run it on the embedded cluster
  // only, and it has no CRD.
  bool embedded_only = false;
  std::string uid_label = std::string(labels::kJobUid);  // of its pods on any cluster
  // The field that suspends a job, as in spec.suspend; empty: the kind has none, and
  // kSuspendAnnotation does.
  std::string suspend_path;

  // The label selector of a job's pods.
  [[nodiscard]] std::string pods_of(const std::string& uid) const { return uid_label + "=" + uid; }
};

// What a stored status says of its job, in words that all kinds share.
struct StoredPhase {
  Phase phase = Phase::Created;
  std::string reason;
  std::string message;
  std::optional<Time> started;
};

// One job kind, and nothing else: decode, default, validate, compile to a Plan, and write the
// engine's verdict back in the kind's own status shape. Pure and stateless.
class Dialect {
 public:
  virtual ~Dialect() = default;

  [[nodiscard]] virtual const Identity& identity() const = 0;
  // The OpenAPI schema of the kind: every field with a sentence, and the rules that CEL can say.
  [[nodiscard]] virtual json::Value schema() const = 0;

  // False: somebody else was asked to run it (managedBy), and we leave it alone.
  [[nodiscard]] virtual bool manages(const json::Value& job) const = 0;
  // Everything wrong with the job, each with its field path; empty when it can run.
  [[nodiscard]] virtual std::vector<FieldCause> validate(const json::Value& job) const = 0;
  // What is in the job and means nothing to the kind. Such a job can run.
  [[nodiscard]] virtual std::vector<UnknownField> unknown_fields(const json::Value& /*job*/) const {
    return {};
  }
  // What an edit may not change, beside that.
  [[nodiscard]] virtual std::vector<FieldCause> validate_update(const json::Value& /*old*/,
                                                                const json::Value& /*job*/) const {
    return {};
  }
  // What the embedded server writes into a job before it is checked; its uid is known.
  virtual void set_defaults(json::Value& /*job*/) const {}
  // Validates and compiles; Invalid with all causes when it cannot run.
  [[nodiscard]] virtual Result<Plan> compile(const json::Value& job) const = 0;

  // The kind's own part of the new status, made from the stored one; what others wrote stays. A job
  // that cannot be compiled has a plan without roles.
  [[nodiscard]] virtual json::Value status(const Plan& plan, const json::Value& stored,
                                           const Verdict& verdict, Time now) const = 0;
  // What a stored status says, ours or that of the operator that we replace.
  [[nodiscard]] virtual StoredPhase phase_of(const json::Value& status) const = 0;
  // The event for a note; nothing when the kind is silent about it.
  [[nodiscard]] virtual std::optional<EventText> event_for(const JobRef& job,
                                                           const Note& note) const = 0;
  // The text of a column that has no path.
  [[nodiscard]] virtual std::string cell(const json::Value& /*job*/, std::string_view /*column*/,
                                         Time /*now*/) const {
    return {};
  }
};

// All the kinds this program knows.
class Registry {
 public:
  void add(std::unique_ptr<const Dialect> dialect) { dialects_.push_back(std::move(dialect)); }

  [[nodiscard]] const Dialect* find(std::string_view api_version, std::string_view kind) const;
  [[nodiscard]] const Dialect* find(const api::Resource& resource) const;
  [[nodiscard]] const std::vector<std::unique_ptr<const Dialect>>& all() const { return dialects_; }

 private:
  std::vector<std::unique_ptr<const Dialect>> dialects_;
};

}  // namespace muster::plan
