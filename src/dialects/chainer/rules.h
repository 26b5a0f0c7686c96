#pragma once

#include <array>

#include "dialects/chainer/job.h"
#include "dialects/check/fields.h"
#include "dialects/check/findings.h"

// What a table of single fields cannot say of a ChainerJob.
namespace muster::dialects::chainer {

namespace rules {
inline constexpr Rule kBackend{"backend", "FieldValueNotSupported"};
inline constexpr Rule kChainerContainer{"chainer-container", "FieldValueRequired"};
inline constexpr Rule kEmptySet{"empty-set", "FieldValueRequired"};
inline constexpr Rule kSomeWorker{"some-worker", "FieldValueInvalid"};
inline constexpr Rule kSameSet{"same-set", "FieldValueDuplicate"};

inline constexpr std::array kOfChainer = {kBackend, kChainerContainer, kEmptySet, kSomeWorker,
                                          kSameSet};
}  // namespace rules

// `masters` and `workers` are the tables of their templates.
void check_job(const Job& job, const FieldTable& masters, const FieldTable& workers,
               Findings& findings);

}  // namespace muster::dialects::chainer
