#include "cli/tables/printer.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "cli/terminal/columns.h"
#include "json/write.h"
#include "yaml/yaml.h"

namespace muster::cli {
namespace {

// Jobs of all kinds share a table.
std::string section_key(const NamedResource& of) {
  return of.dialect != nullptr ? "jobs" : of.resource.qualified();
}

std::string full_name(const Item& item) {
  return fmt::format("{}/{}", item.of->resource.qualified(), api::name_of(*item.object));
}

Cells without(Cells row, std::size_t column) {
  if (column > 0 && column < row.size())
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  return row;
}

json::Value list_of(const std::vector<Item>& items) {
  json::Array objects;
  for (const Item& item : items) objects.push_back(*item.object);
  return json::Object{{"apiVersion", "v1"},
                      {"kind", "List"},
                      {"metadata", json::Object{}},
                      {"items", std::move(objects)}};
}

}  // namespace

Printer::Printer(Output& output, PrintOptions options)
    : output_(output), options_(std::move(options)) {}

bool Printer::prints_table() const {
  return options_.format.kind == Format::Kind::Table || options_.format.kind == Format::Kind::Wide;
}

Result<void> Printer::print(const std::vector<Item>& items, const Surroundings& around) {
  switch (options_.format.kind) {
    case Format::Kind::Table:
    case Format::Kind::Wide:
      return print_tables(items, around);
    case Format::Kind::Json:
    case Format::Kind::Yaml:
      print_objects(items);
      return {};
    case Format::Kind::Name:
      for (const Item& item : items) output_.print("{}\n", full_name(item));
      return {};
    case Format::Kind::JsonPath:
      return print_jsonpath(items);
    case Format::Kind::CustomColumns:
      return print_custom(items);
  }
  return {};
}

Result<void> Printer::print_each(const std::vector<Item>& items, const Surroundings& around) {
  if (prints_table() || options_.format.kind == Format::Kind::CustomColumns)
    return print(items, around);
  for (const Item& item : items) TRY(print_object(item));
  return {};
}

Result<void> Printer::print_change(const Item& item, const Surroundings& around, Fate fate) {
  if (!prints_table()) {
    if (options_.format.kind == Format::Kind::CustomColumns) return print_custom({item});
    return print_object(item);
  }
  Section& section = section_of(item, {item});
  Cells row = row_of(section, item, around);
  const std::size_t shift = options_.namespaces ? 1 : 0;
  if (fate == Fate::Gone && section.layout.state > 0) row[section.layout.state + shift] = "Deleted";
  const std::size_t age = section.layout.age > 0 ? section.layout.age + shift : 0;
  Cells& last = printed_[api::uid_of(*item.object)];
  if (without(last, age) == without(row, age) && fate == Fate::Seen) return {};
  std::vector<Cells> rows;
  if (!section.begun && options_.headers) rows.push_back(header_of(section));
  section.begun = true;
  rows.push_back(row);
  last = std::move(row);
  if (fate == Fate::Gone) printed_.erase(api::uid_of(*item.object));
  output_.print("{}", columns(rows, section.widths));
  return {};
}

Printer::Section& Printer::section_of(const Item& item, const std::vector<Item>& all) {
  const std::string key = section_key(*item.of);
  const auto found = sections_.find(key);
  if (found != sections_.end()) return found->second;
  Objects objects;
  for (const Item& other : all) {
    if (section_key(*other.of) == key) objects.push_back(other.object);
  }
  const Width width = options_.format.kind == Format::Kind::Wide ? Width::Wide : Width::Narrow;
  Section& section = sections_[key];
  section.layout = layout_of(*item.of, objects, width);
  return section;
}

Cells Printer::row_of(const Section& section, const Item& item, const Surroundings& around) const {
  Cells row = section.layout.row(item, around);
  if (named_types_) row.front() = full_name(item);
  if (options_.namespaces) row.insert(row.begin(), api::namespace_of(*item.object));
  return row;
}

Cells Printer::header_of(const Section& section) const {
  Cells header = section.layout.header;
  if (options_.namespaces) header.insert(header.begin(), "NAMESPACE");
  return header;
}

Result<void> Printer::print_tables(const std::vector<Item>& items, const Surroundings& around) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<Cells>> tables;
  for (const Item& item : items) {
    const std::string key = section_key(*item.of);
    if (std::ranges::find(order, key) == order.end()) order.push_back(key);
  }
  named_types_ = order.size() > 1;
  for (const Item& item : items) {
    Section& section = section_of(item, items);
    auto& rows = tables[section_key(*item.of)];
    if (!section.begun && options_.headers) rows.push_back(header_of(section));
    section.begun = true;
    rows.push_back(row_of(section, item, around));
    printed_[api::uid_of(*item.object)] = rows.back();
  }
  for (const std::string& key : order) {
    if (key != order.front()) output_.print("\n");
    output_.print("{}", columns(tables[key], sections_[key].widths));
  }
  return {};
}

Result<void> Printer::print_custom(const std::vector<Item>& items) {
  std::vector<Cells> rows;
  if (!custom_begun_ && options_.headers) {
    Cells header;
    for (const CustomColumn& column : options_.format.columns) header.push_back(column.title);
    rows.push_back(std::move(header));
  }
  custom_begun_ = true;
  for (const Item& item : items)
    rows.push_back(TRY(custom_row(options_.format.columns, *item.object)));
  output_.print("{}", columns(rows, custom_widths_));
  return {};
}

void Printer::print_objects(const std::vector<Item>& items) {
  const bool alone = options_.single && items.size() == 1;
  const json::Value shown = alone ? *items.front().object : list_of(items);
  if (options_.format.kind == Format::Kind::Json) {
    output_.print("{}\n", json::write_pretty(shown));
  } else {
    output_.print("{}", yaml::write(shown));
  }
}

Result<void> Printer::print_jsonpath(const std::vector<Item>& items) {
  const bool alone = options_.single && items.size() == 1;
  output_.print(
      "{}", TRY(options_.format.jsonpath->apply(alone ? *items.front().object : list_of(items))));
  return {};
}

// One of many: documents that a reader can tell apart.
Result<void> Printer::print_object(const Item& item) {
  switch (options_.format.kind) {
    case Format::Kind::Json:
      output_.print("{}\n", json::write_pretty(*item.object));
      break;
    case Format::Kind::Yaml:
      output_.print("---\n{}", yaml::write(*item.object));
      break;
    case Format::Kind::JsonPath:
      output_.print("{}\n", TRY(options_.format.jsonpath->apply(*item.object)));
      break;
    default:
      output_.print("{}\n", full_name(item));
      break;
  }
  return {};
}

}  // namespace muster::cli
