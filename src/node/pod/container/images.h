#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/value.h"
#include "node/agent/options.h"

// Images are not pulled: images.yaml says what an image name means on this machine.
namespace muster::node {

bool matches(const ImageRow& row, std::string_view image);

// The image of the in-pod agent, under whatever registry and tag: nodes know it by themselves. What
// it brings along on other clusters is in every container here.
inline constexpr const char* kAgentImageName = "muster-agent";

// The first row whose pattern matches; then what nodes know by themselves; null when nothing does.
const ImageRow* find_image(const std::vector<ImageRow>& rows, std::string_view image);

// The words to execute, before expansion: the container's command and args over the row's
// entrypoint and cmd, by Kubernetes' rule (a command without args drops the image's cmd too). An
// error names both remedies when there is nothing to run.
Result<std::vector<std::string>> words_to_run(const json::Value& container, const ImageRow* row);

}  // namespace muster::node
