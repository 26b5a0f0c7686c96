#pragma once

#include <span>
#include <string_view>

#include "dialects/fields.h"
#include "plan/dialect.h"

// MSJob's names, fields and rules, in one place.
namespace muster::dialects::mindspore {

inline constexpr std::string_view kContainer = "mindspore";
inline constexpr std::string_view kPortName = "msjob-port";
inline constexpr int kDefaultPort = 2222;
// One job of 10,000 pods is what the largest documented clusters hold; more is a typing mistake.
inline constexpr int kMostReplicas = 10'000;

namespace rules {
inline constexpr Rule kRoleKey{"role-key", "FieldValueNotSupported"};
inline constexpr Rule kSameRole{"same-role", "FieldValueDuplicate"};
inline constexpr Rule kSomeRole{"some-role", "FieldValueRequired"};
inline constexpr Rule kSomeWorker{"some-worker", "FieldValueInvalid"};
inline constexpr Rule kOneScheduler{"one-scheduler", "FieldValueInvalid"};
inline constexpr Rule kSomeContainer{"some-container", "FieldValueRequired"};
inline constexpr Rule kMainContainer{"main-container", "FieldValueRequired"};
inline constexpr Rule kJobSize{"job-size", "FieldValueInvalid"};
inline constexpr Rule kMinAvailable{"min-available", "FieldValueInvalid"};
inline constexpr Rule kJobPort{"job-port", "FieldValueInvalid"};
inline constexpr Rule kJobName{"job-name", "FieldValueInvalid"};
inline constexpr Rule kNameLength{"name-length", "FieldValueTooLong"};
}  // namespace rules

const plan::Identity& identity();

// The whole object but for what is inside of templates: decoding, validation and the CRD follow it.
std::span<const Field> job_fields();

// Every rule that a manifest can break; each has a case in tests/cases/msjob/bad.
std::span<const Rule> all_rules();

}  // namespace muster::dialects::mindspore
