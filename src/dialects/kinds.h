#pragma once

#include <memory>

#include "plan/dialect.h"

namespace muster::dialects {

// MSJob, mindspore.gitee.com/v1. Immutable; any thread may use it.
std::unique_ptr<const plan::Dialect> make_mindspore();

}  // namespace muster::dialects
