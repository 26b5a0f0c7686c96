#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "plan/dialect.h"

namespace muster::deploy {

// The kinds that a cluster is told of, in the order of the registry.
std::vector<const plan::Dialect*> kinds_with_crds(const plan::Registry& registry);

// An object as YAML, below a line that says where it comes from, and a comment.
std::string generated(std::string_view comment, const json::Value& value);

// Every generated file of deploy/: its path below that folder, and its text.
std::map<std::string, std::string> files_for(const plan::Registry& registry);

// All of deploy/ but what is for one namespace, in one file; `files` has those written by hand too.
std::string install_yaml(const std::map<std::string, std::string>& files);

}  // namespace muster::deploy
