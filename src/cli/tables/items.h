#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/jobs/listing.h"

namespace muster::cli {

// One object and what it is. The resource belongs to whoever listed it and outlives this.
struct Item {
  const NamedResource* of = nullptr;
  cluster::ObjectPtr object;
};

std::vector<Item> items_of(const std::vector<Listing>& listings);

// By what a path finds in each: numbers and quantities by their size, text by the numbers in it;
// what does not have it comes first. BadRequest when none has it.
Result<void> sort_items(std::vector<Item>& items, std::string_view path);

}  // namespace muster::cli
