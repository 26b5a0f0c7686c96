#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "server/kinds.h"
#include "server/types.h"

// Objects as rows, the way kubectl shows them (meta.k8s.io/v1 Table).
namespace muster::server {

struct Column {
  std::string name;
  std::string type = "string";
  std::string format;
  int priority = 0;  // 1: only with -o wide
};

enum class IncludeObject { Metadata, Object, None };

std::vector<Column> columns_of(const Kind& kind);
std::vector<json::Value> cells_of(const Kind& kind, const json::Value& object, Time now);

// A Table without rows; `columns` may be left out, as on all but the first event of a watch.
json::Value empty_table(const Kind& kind, bool with_columns);
json::Value row_of(const Kind& kind, const json::Value& object, IncludeObject include, Time now);

// What `kubectl get pods` shows as STATUS.
std::string pod_status_text(const json::Value& pod);

// The part of JSONPath that printer columns use: .a.b, [0], [-1:], [?(@.type=="x")].
const json::Value& at_json_path(const json::Value& root, std::string_view path);

}  // namespace muster::server
