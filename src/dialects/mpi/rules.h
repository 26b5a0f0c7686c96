#pragma once

#include <array>
#include <initializer_list>
#include <string_view>

#include "dialects/check/findings.h"
#include "json/value.h"

// What a template may not hold, because we put something there.
namespace muster::dialects::mpi {

namespace rules {
inline constexpr Rule kReserved{"reserved", "FieldValueForbidden"};
inline constexpr Rule kRemoteStart{"remote-start", "FieldValueNotSupported"};

inline constexpr std::array kOfMpi = {kReserved, kRemoteStart};
}  // namespace rules

// Refuses volumes, init containers and mounts that have our names and places: the family's, and
// those beginnings that the kind adds. `pod_template` is the whole template, `path` where it is.
void check_reserved(const json::Value& pod_template, const Path& path,
                    std::initializer_list<std::string_view> more_names,
                    std::initializer_list<std::string_view> more_places, Findings& findings);

// The annotation that chooses how ranks are started has one of its values.
void check_remote_start(const json::Value& job, Findings& findings);

}  // namespace muster::dialects::mpi
