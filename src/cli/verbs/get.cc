#include <fmt/format.h>

#include "cli/cluster/open_cluster.h"
#include "cli/jobs/listing.h"
#include "cli/objects/object_names.h"
#include "cli/print_error.h"
#include "cli/tables/job_rows.h"
#include "cli/tables/live.h"
#include "cli/tables/printer.h"
#include "cli/tables/surroundings.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {
namespace {

// RESOURCE[,RESOURCE…], RESOURCE NAME…, RESOURCE/NAME…, or NAMEs of jobs.
Result<Wanted> what(const Context& context, const GetOptions& options) {
  Wanted wanted{.labels = options.labels, .fields = options.fields};
  if (options.words.empty()) {
    wanted.kinds = TRY(resources_named(context.registry, "jobs"));
    return wanted;
  }
  if (options.words.size() == 1) {
    auto kinds = resources_listed(context.registry, options.words.front());
    if (kinds) {
      wanted.kinds = std::move(*kinds);
      return wanted;
    }
    if (kinds.error().code != ErrorCode::NotFound) return fail(kinds.error());
  }
  wanted.names = TRY(parse_names(context.registry, options.words));
  if (!options.labels.empty() || !options.fields.empty()) {
    return fail(ErrorCode::BadRequest,
                "names and a selector exclude each other: name things, or select them");
  }
  return wanted;
}

Task<Result<int>> get_from(Context& context, OpenCluster& target, Wanted wanted, GetOptions options,
                           PrintOptions print) {
  const std::string ns = context.all_namespaces ? "" : target.ns();
  print.single = wanted.names.size() == 1;
  print.namespaces = context.all_namespaces;
  const Fetched fetched = CO_TRY(co_await fetch(context, target.cluster(), ns, wanted));
  std::vector<Item> items = items_of(fetched.listings);
  if (!options.sort_by.empty()) CO_TRY(sort_items(items, options.sort_by));
  Printer printer(context.output, print);
  for (const Error& error : fetched.missing) print_error(context.output, error);
  if (!fetched.missing.empty() && (items.empty() || options.watch)) co_return exit_code::kFailed;
  if (options.watch) {
    co_return co_await print_as_they_change(context, target.cluster(), ns,
                                            selections_for(wanted, fetched, ns), std::move(items),
                                            printer);
  }
  const bool lists = print.format.kind == Format::Kind::Json ||
                     print.format.kind == Format::Kind::Yaml ||
                     print.format.kind == Format::Kind::JsonPath;
  if (items.empty() && !lists) {
    context.output.note("No resources found{}.\n",
                        ns.empty() ? "" : fmt::format(" in {} namespace", ns));
    co_return exit_code::kOk;
  }
  Surroundings around;
  if (printer.prints_table()) around = co_await look_around(context, target.cluster(), items, ns);
  CO_TRY(printer.print(items, around));
  if (printer.prints_table()) note_waiting(context, items, around);
  co_return fetched.missing.empty() ? exit_code::kOk : exit_code::kFailed;
}

}  // namespace

Task<int> get(Context& context, GetOptions options) {
  auto wanted = what(context, options);
  if (!wanted) co_return refuse_resource(context.output, wanted.error());
  auto format = parse_format(options.output);
  if (!format) co_return refuse_resource(context.output, format.error());
  PrintOptions print{.format = std::move(*format), .headers = options.headers};
  // Whoever goes on looking sees what others begin meanwhile; the store alone does not say.
  const PlaneParts parts = options.watch ? PlaneParts::All : PlaneParts::Store;
  co_return co_await with_cluster(context, parts,
                                  [&context, wanted = std::move(*wanted), print = std::move(print),
                                   options = std::move(options)](OpenCluster& target) {
                                    return get_from(context, target, wanted, options, print);
                                  });
}

}  // namespace muster::cli
