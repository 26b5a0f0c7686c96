#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/resource.h"
#include "base/error.h"
#include "cli/terminal/output.h"
#include "plan/dialect.h"

// Resources as users write them on the command line.
namespace muster::cli {

struct NamedResource {
  api::Resource resource;
  const plan::Dialect* dialect = nullptr;  // of a job kind
};

// Whether that is a spelling of the kind: trainjobs, tj, trainjob.example.org,
// TrainJob.v1.example.org.
bool names_kind(const plan::Identity& identity, std::string_view name);

// `jobs` is every job kind; anything else is one resource: its plural, singular, kind or short
// name, alone or with its group (trainjobs.example.org) or version and group
// (trainjobs.v1.example.org). NotFound names what there is; BadRequest names the spellings when
// several kinds are meant.
Result<std::vector<NamedResource>> resources_named(const plan::Registry& registry,
                                                   std::string_view name);

// The same for several with commas between.
Result<std::vector<NamedResource>> resources_listed(const plan::Registry& registry,
                                                    std::string_view names);
// What there is, each by its shortest plural.
std::vector<std::string> known_resources(const plan::Registry& registry);

// Prints why a resource's name was not understood. The exit code: an ambiguous one is wrong usage.
int refuse_resource(Output& output, const Error& error);

// The shortest name of a kind that means no other: trainjobs, or trainjobs.example.org.
std::string short_spelling(const plan::Registry& registry, const plan::Dialect& dialect);
// With its group, and the version only where the registry has two of one group.
std::string full_spelling(const plan::Registry& registry, const plan::Dialect& dialect);

}  // namespace muster::cli
