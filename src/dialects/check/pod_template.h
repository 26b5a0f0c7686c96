#pragma once

#include <array>
#include <span>
#include <string_view>

#include "dialects/check/fields.h"
#include "json/value.h"

// Pod templates, which every kind holds: the fields whose mistakes we can explain before the pods
// of a job are refused one by one. Whatever is not listed is kept and left to the API server.
namespace muster::dialects {

namespace rules {
inline constexpr Rule kUnique{"unique", "FieldValueDuplicate"};
inline constexpr Rule kKnownVolume{"known-volume", "FieldValueNotFound"};
inline constexpr Rule kOneSource{"one-source", "FieldValueForbidden"};
inline constexpr Rule kWithinLimit{"within-limit", "FieldValueInvalid"};
inline constexpr Rule kWholeNumber{"whole-number", "FieldValueInvalid"};

inline constexpr std::array kOfTemplates = {kUnique, kKnownVolume, kOneSource, kWithinLimit,
                                            kWholeNumber};
}  // namespace rules

// Paths below the template: metadata.*, spec.*.
std::span<const Field> pod_template_fields();

// What a table of single fields cannot say: names used twice, mounts of volumes that are not there,
// requests above their limits.
void check_pod_template(const json::Value& pod_template, const Path& path, Findings& findings);

}  // namespace muster::dialects
