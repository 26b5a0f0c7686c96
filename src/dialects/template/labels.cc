#include "dialects/template/labels.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::dialects {

void set_labels(const Labels& labels, std::string_view role, PodEditor& pod,
                std::vector<plan::Warning>& warnings) {
  const auto warn = [&](std::string_view key) {
    warnings.push_back(
        {.reason = "ReservedLabel",
         .message = fmt::format("{}: the label {} in the template is ours and was replaced", role,
                                printable(key))});
  };
  std::vector<std::string> ours;
  for (const auto& [key, value] : pod.labels()) {
    if (key.starts_with("muster.dev/")) ours.push_back(key);
  }
  for (const auto& key : ours) {
    pod.labels().erase(key);
    warn(key);
  }
  for (const auto& [key, value] : labels) {
    const json::Value* written = pod.labels().find(key);
    if (written != nullptr && !(is_plain(value) && *written == json::Value(plain_text(value)))) {
      warn(key);
    }
    pod.set_label(key, value);
  }
}

}  // namespace muster::dialects
