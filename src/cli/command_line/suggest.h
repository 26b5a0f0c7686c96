#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What somebody who mistyped a word most likely meant.
namespace muster::cli {

// The known word that is a slip of the fingers away, or the only one that begins so.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

// "; did you mean X?" for the end of a message, or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace muster::cli
