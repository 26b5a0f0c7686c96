#include <fmt/format.h>

#include "base/strings.h"
#include "cli/fields/explain.h"
#include "cli/fields/schemas.h"
#include "cli/jobs/resource_names.h"
#include "cli/print_error.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {
namespace {

struct Named {
  NamedResource resource;
  std::string field;
};

// The group of a kind has dots, too: the longest beginning that names a kind is one.
Result<Named> parse_words(const plan::Registry& registry, const std::string& text) {
  std::optional<Error> why;
  for (auto end = text.size(); end != std::string::npos && end > 0;
       end = end == 0 ? std::string::npos : text.rfind('.', end - 1)) {
    const auto kinds = resources_named(registry, std::string_view(text).substr(0, end));
    if (kinds && kinds->size() == 1) {
      return Named{.resource = kinds->front(),
                   .field = end == text.size() ? "" : text.substr(end + 1)};
    }
    if (kinds) {
      return fail(ErrorCode::BadRequest,
                  fmt::format("\"{}\" is every kind of job; say which", text.substr(0, end)));
    }
    why = kinds.error();  // the shortest is what was meant as a kind
    if (kinds.error().code != ErrorCode::NotFound) break;
  }
  return fail(why.value_or(Error{.code = ErrorCode::BadRequest, .message = "a kind is needed"}));
}

}  // namespace

int explain(const Context& context, const ExplainOptions& options) {
  const auto named = parse_words(context.registry, options.field);
  if (!named) return refuse_resource(context.output, named.error());
  const auto& resource = named->resource.resource;
  const auto schema = schema_for(resource, named->resource.dialect);
  if (schema.is_null()) {
    print_error(context.output,
                {.code = ErrorCode::NotFound,
                 .message = fmt::format("the fields of {} are not known here", resource.kind)});
    return exit_code::kFailed;
  }
  const auto page = explain_field(resource, schema, named->field);
  if (!page) {
    print_error(context.output, page.error());
    return exit_code::kFailed;
  }
  context.output.print("{}", *page);
  return exit_code::kOk;
}

}  // namespace muster::cli
