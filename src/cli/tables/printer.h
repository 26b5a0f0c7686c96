#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/tables/format.h"
#include "cli/tables/items.h"
#include "cli/tables/layout.h"

namespace muster::cli {

// How `get` was asked to print.
struct PrintOptions {
  Format format;
  bool headers = true;
  bool namespaces = false;  // a column of them
  bool single = false;      // one object was asked for: it is printed by itself, not in a list
};

// Prints objects, all at once or one after the other as they change, in one format. Tables of
// several resources stand below each other.
class Printer {
 public:
  Printer(Output& output, PrintOptions options);

  // Everything, as one document where the format has such.
  Result<void> print(const std::vector<Item>& items, const Surroundings& around);
  // Everything, as the first of what will be printed one by one.
  Result<void> print_each(const std::vector<Item>& items, const Surroundings& around);

  enum class Fate { Seen, Gone };
  // One that changed; a row that says nothing new (but its age) is left out.
  Result<void> print_change(const Item& item, const Surroundings& around, Fate fate);

  [[nodiscard]] bool prints_table() const;

 private:
  struct Section {
    Layout layout;
    std::vector<std::size_t> widths;
    bool begun = false;
  };

  Section& section_of(const Item& item, const std::vector<Item>& all);
  Cells row_of(const Section& section, const Item& item, const Surroundings& around) const;
  [[nodiscard]] Cells header_of(const Section& section) const;
  Result<void> print_tables(const std::vector<Item>& items, const Surroundings& around);
  Result<void> print_custom(const std::vector<Item>& items);
  void print_objects(const std::vector<Item>& items);
  Result<void> print_jsonpath(const std::vector<Item>& items);
  Result<void> print_object(const Item& item);

  Output& output_;
  PrintOptions options_;
  std::map<std::string, Section> sections_;
  std::map<std::string, Cells> printed_;  // the last row of each object, by its uid
  std::vector<std::size_t> custom_widths_;
  bool custom_begun_ = false;
  bool named_types_ = false;  // several resources: names say which
};

}  // namespace muster::cli
