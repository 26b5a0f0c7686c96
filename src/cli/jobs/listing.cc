#include "cli/jobs/listing.h"

#include <optional>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/jobs/find_job.h"
#include "cluster/page_limit.h"

namespace muster::cli {
namespace {

// One kind of several may not be installed, or not ours to read.
Task<Result<std::vector<Listing>>> list_kinds(cluster::Cluster& cluster,
                                              std::vector<NamedResource> kinds, std::string ns,
                                              std::string labels) {
  std::vector<Listing> listings;
  std::optional<Error> absent;
  for (NamedResource& kind : kinds) {
    auto objects = co_await list_all(cluster, kind.resource, {.ns = ns, .labels = labels});
    if (objects) {
      listings.push_back({.of = std::move(kind), .objects = std::move(*objects)});
    } else if (objects.error().code == ErrorCode::NotFound ||
               objects.error().code == ErrorCode::Forbidden) {
      if (!absent) absent = objects.error();
    } else {
      co_return fail(objects.error());
    }
  }
  if (listings.empty() && absent) co_return fail(*absent);
  co_return listings;
}

Task<Result<Listing>> get_named(cluster::Cluster& cluster, api::Resource resource, std::string ns,
                                std::vector<std::string> names) {
  Listing listing{.of = {.resource = resource}};
  for (const std::string& name : names) {
    listing.objects.push_back(CO_TRY(
        co_await cluster.get(resource, {.ns = resource.namespaced() ? ns : "", .name = name})));
  }
  co_return listing;
}

// The jobs of these names; a name that several kinds have is listed for each.
Task<Result<std::vector<Listing>>> get_named_jobs(cluster::Cluster& cluster,
                                                  std::vector<NamedResource> kinds, std::string ns,
                                                  std::vector<std::string> names) {
  std::vector<Listing> listings;
  for (const std::string& name : names) {
    const auto found = CO_TRY(co_await find_jobs(cluster, ns, {.kinds = kinds, .name = name}));
    if (found.empty()) {
      co_return fail(ErrorCode::NotFound,
                     fmt::format("{} \"{}\" not found",
                                 kinds.size() == 1 ? kinds.front().resource.qualified() : "job",
                                 printable(name)));
    }
    for (const FoundJob& one : found) {
      listings.push_back(
          {.of = {.resource = one.dialect->identity().resource, .dialect = one.dialect},
           .objects = {one.job}});
    }
  }
  co_return listings;
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

Task<Result<std::vector<Listing>>> fetch_listings(cluster::Cluster& cluster,
                                                  std::vector<NamedResource> kinds, std::string ns,
                                                  std::vector<std::string> names,
                                                  std::string labels) {
  if (names.empty()) co_return co_await list_kinds(cluster, std::move(kinds), ns, labels);
  if (kinds.front().dialect != nullptr)
    co_return co_await get_named_jobs(cluster, std::move(kinds), ns, names);
  std::vector<Listing> listings;
  listings.push_back(CO_TRY(co_await get_named(cluster, kinds.front().resource, ns, names)));
  co_return listings;
}

}  // namespace muster::cli
