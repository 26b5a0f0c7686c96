#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/limits.h"
#include "json/value.h"

namespace muster::yaml {

struct ReadLimits {
  std::size_t bytes = limits::kMaxManifestFileBytes;
  int depth = limits::kMaxDepth;
  std::size_t nodes = limits::kMaxNodes;             // per document, aliases expanded
  std::size_t alias_nodes = limits::kMaxAliasNodes;  // per file, created by expanding aliases
  std::size_t documents = limits::kMaxDocumentsPerFile;
};

struct Document {
  json::Value value;
  std::size_t line = 0;  // where it begins, counted from 1
  // Where each value is, by its path (images[1].rootfs): only of read_with_lines().
  std::map<std::string, std::size_t> lines;
};

// Reads every document of a file; empty documents are left out. Scalars as kubectl reads them
// (YAML 1.1: yes/no/on/off are booleans, 0644 is octal). Merge keys (<<) and anchors work within
// the alias budget; a repeated key is an error. JSON is YAML, so JSON files are read too.
Result<std::vector<Document>> read(std::string_view text, const ReadLimits& limits = {});

// The same for files of settings, whose messages name the line of each value.
Result<std::vector<Document>> read_with_lines(std::string_view text, const ReadLimits& limits = {});

// Writes what read() gives back unchanged, in the layout that kubectl prints.
std::string write(const json::Value& value);

}  // namespace muster::yaml
