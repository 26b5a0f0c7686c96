#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/tables/items.h"

// How `get` shows objects of each resource in a table.
namespace muster::cli {

using Cells = std::vector<std::string>;

// What rows show beside their own object.
struct Surroundings {
  Time now;
  std::map<std::string, Objects> pods_of_job;   // by the job's uid
  std::map<std::string, Objects> pods_on_node;  // by the node's name: those that take room there
  bool pods_known = false;                      // or we may not look at them
  std::set<std::string> shared_kinds;           // names that several of the shown kinds have
};

struct Layout {
  Cells header;
  std::function<Cells(const Item&, const Surroundings&)> row;
  std::size_t state = 0;  // the column that says how it is; 0: there is none
  std::size_t age = 0;    // the column that changes by itself
};

enum class Width { Narrow, Wide };

// For objects of one resource, or of all kinds of jobs.
Layout layout_of(const NamedResource& of, const Objects& objects, Width width);

// Cells that several layouts have.
std::string age_of(const json::Value& object, Time now);

}  // namespace muster::cli
