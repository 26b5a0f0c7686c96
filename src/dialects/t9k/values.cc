#include "dialects/t9k/values.h"

namespace muster::dialects::t9k {

std::vector<std::string> words(const json::Value& list) {
  std::vector<std::string> out;
  for (const json::Value& word : list.as_array()) out.push_back(word.as_string());
  return out;
}

bool is_on(const json::Value& block) {
  return block["enabled"].is_null() ? block["enable"].as_bool() : block["enabled"].as_bool();
}

}  // namespace muster::dialects::t9k
