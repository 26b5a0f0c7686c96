#pragma once

#include <string>
#include <vector>

#include "json/value.h"
#include "server/http/printer.h"

// Claims, volumes and classes as kubectl shows them. The last cell is the age.
namespace muster::server {

bool is_volume_kind(const Kind& kind);
std::vector<Column> volume_columns(const Kind& kind);
std::vector<json::Value> volume_cells(const Kind& kind, const json::Value& object,
                                      const std::string& age);

}  // namespace muster::server
