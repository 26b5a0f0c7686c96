#include "server/store/selection.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"

namespace muster::server {

Result<Selector> Selector::make(const Kind& kind, const Selection& selection) {
  Selector made;
  if (kind.resource.namespaced()) made.namespace_ = selection.ns;
  made.labels_ = TRY(api::LabelSelector::parse(selection.labels));
  made.fields_ = TRY(api::FieldSelector::parse(selection.fields));
  for (const auto& term : made.fields_.terms()) {
    if (term.path == "metadata.name" || term.path == "metadata.namespace") continue;
    if (std::ranges::find(kind.fields, term.path) != kind.fields.end()) continue;
    return fail(ErrorCode::BadRequest, fmt::format("field label not supported: {}", term.path));
  }
  return made;
}

bool Selector::matches(const json::Value& object) const {
  if (!namespace_.empty() && api::namespace_of(object) != namespace_) return false;
  return labels_.matches(object) && fields_.matches(object);
}

}  // namespace muster::server
