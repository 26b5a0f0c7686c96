#include "cli/plane/settings.h"

#include <filesystem>

#include "base/strings.h"

namespace muster::cli {

json::Value runner_settings(const Context& context) {
  json::Array images;
  for (const std::string& file : context.image_files)
    images.emplace_back(std::filesystem::absolute(file).lexically_normal().string());
  json::Object capacity;
  for (const auto& [resource, count] : context.capacity) capacity.set(resource, count);
  return json::Object{{"images", std::move(images)},
                      {"capacity", std::move(capacity)},
                      {"agentImage", context.agent_image}};
}

std::string flags_of_the_runner(const Context& context) {
  std::vector<std::string> given;
  if (!context.image_files.empty()) given.emplace_back("--images");
  if (!context.capacity.empty()) given.emplace_back("--capacity");
  if (!context.agent_image.empty()) given.emplace_back("--agent-image");
  return join(given, ", ");
}

}  // namespace muster::cli
