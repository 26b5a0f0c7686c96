#include "cli/jobs/listing.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/jobs/find_job.h"
#include "cli/objects/absent.h"
#include "cli/objects/find_object.h"
#include "cluster/page_limit.h"

namespace muster::cli {
namespace {

bool is_ours(const NamedResource& kind) {
  return kind.dialect != nullptr && !kind.dialect->identity().embedded_only;
}

// Why nothing came of any kind: that the cluster has none of ours says more than that its own are
// empty.
std::optional<Error> reason_for_nothing(const std::vector<NamedResource>& kinds,
                                        const std::vector<Listing>& listings,
                                        const std::vector<Error>& refusals) {
  const bool empty =
      std::ranges::all_of(listings, [](const auto& one) { return one.objects.empty(); });
  const bool some = std::ranges::any_of(listings, [](const auto& one) { return is_ours(one.of); });
  const bool absent = std::ranges::any_of(
      refusals, [](const Error& error) { return error.code == ErrorCode::NotFound; });
  if (!empty || some) return std::nullopt;
  if (absent && std::ranges::any_of(kinds, is_ours)) {
    if (kinds.size() == 1) return absent_kind(kinds.front().resource);
    return Error{.code = ErrorCode::NotFound, .message = absent_kinds()};
  }
  if (listings.empty() && !refusals.empty()) return refusals.front();
  return std::nullopt;
}

Task<Result<Fetched>> list_kinds(cluster::Cluster& cluster, std::string ns, Wanted wanted) {
  Fetched fetched;
  std::vector<Error> refusals;
  for (const NamedResource& kind : wanted.kinds) {
    auto objects = co_await list_all(cluster, kind.resource,
                                     {.ns = ns, .labels = wanted.labels, .fields = wanted.fields});
    if (objects) {
      fetched.listings.push_back({.of = kind, .objects = std::move(*objects)});
    } else if (objects.error().code == ErrorCode::NotFound ||
               objects.error().code == ErrorCode::Forbidden) {
      refusals.push_back(objects.error());
    } else {
      co_return fail(objects.error());
    }
  }
  if (auto reason = reason_for_nothing(wanted.kinds, fetched.listings, refusals))
    co_return fail(std::move(*reason));
  co_return fetched;
}

// A name that several kinds have is found once for each.
Task<Result<std::vector<FoundObject>>> find_all(const Context& context, cluster::Cluster& cluster,
                                                std::string ns, ObjectName name) {
  std::vector<FoundObject> found;
  if (name.is_job()) {
    for (const FoundJob& one : CO_TRY(co_await find_jobs(cluster, ns, name))) {
      found.push_back({.of = {.resource = one.dialect->identity().resource, .dialect = one.dialect},
                       .object = one.job});
    }
  }
  if (found.empty()) {
    found.push_back(CO_TRY(co_await find_object(context, cluster, ns, name, BareName::JobOrPod)));
  }
  co_return found;
}

}  // namespace

Task<Result<Objects>> list_all(cluster::Cluster& cluster, api::Resource resource,
                               api::Selection where) {
  if (!resource.namespaced()) where.ns.clear();
  Objects objects;
  cluster::PageLimit limit(500);
  cluster::ListOptions options{.where = std::move(where)};
  while (true) {
    options.limit = limit.now();
    auto page = co_await cluster.list(resource, options);
    if (page) {
      objects.insert(objects.end(), page->items.begin(), page->items.end());
      if (page->continue_token.empty()) co_return objects;
      options.continue_token = page->continue_token;
    } else if (page.error().code == ErrorCode::Gone && !options.continue_token.empty()) {
      // So slow that the server does not remember this list any more: once more from the start.
      objects.clear();
      options.continue_token.clear();
    } else if (page.error().code != ErrorCode::TooLarge || !limit.halve()) {
      co_return fail(page.error());
    }
  }
}

Task<Result<Fetched>> fetch(const Context& context, cluster::Cluster& cluster, std::string ns,
                            Wanted wanted) {
  if (wanted.names.empty()) co_return co_await list_kinds(cluster, ns, std::move(wanted));
  Fetched fetched;
  for (const ObjectName& name : wanted.names) {
    const auto found = co_await find_all(context, cluster, ns, name);
    if (found) {
      for (const FoundObject& one : *found)
        fetched.listings.push_back({.of = one.of, .objects = {one.object}});
    } else if (found.error().code == ErrorCode::NotFound) {
      fetched.missing.push_back(found.error());
    } else {
      co_return fail(found.error());
    }
  }
  co_return fetched;
}

std::vector<Selected> selections_for(const Wanted& wanted, const Fetched& fetched,
                                     const std::string& ns) {
  std::vector<Selected> selected;
  for (const Listing& listing : fetched.listings) {
    const api::Resource& resource = listing.of.resource;
    auto found = std::ranges::find_if(
        selected, [&](const Selected& one) { return one.of.resource == resource; });
    if (found == selected.end()) {
      selected.push_back({.of = listing.of,
                          .where = {.ns = resource.namespaced() ? ns : "",
                                    .labels = wanted.labels,
                                    .fields = wanted.fields}});
      found = std::prev(selected.end());
    }
    if (wanted.names.empty()) continue;
    for (const auto& object : listing.objects) found->names.insert(api::name_of(*object));
  }
  for (Selected& one : selected) {
    if (one.names.size() == 1) one.where.fields = "metadata.name=" + *one.names.begin();
  }
  return selected;
}

}  // namespace muster::cli
