#pragma once

#include <string>
#include <vector>

#include "json/value.h"
#include "plan/dialect.h"

namespace muster::cli {

// What the kind has and a CustomResourceDefinition does not: fields as spec.runPolicy.suspend, the
// version, a subresource. An API server drops such fields from jobs without a word. Empty: the CRD
// is as this program knows the kind, or newer.
std::vector<std::string> lacking_in(const json::Value& crd, const plan::Dialect& dialect);

}  // namespace muster::cli
