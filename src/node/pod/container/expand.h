#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::node {

// Replaces $(NAME) by the variable's value, as Kubernetes does: $$ is one dollar, a name that is
// not known stays as it is written, and so does a reference that is never closed.
std::string expand(std::string_view text, const std::map<std::string, std::string>& variables);

std::vector<std::string> expand_all(const std::vector<std::string>& texts,
                                    const std::map<std::string, std::string>& variables);

}  // namespace muster::node
