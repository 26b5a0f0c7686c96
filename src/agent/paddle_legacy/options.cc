#include "agent/paddle_legacy/options.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster::agent::paddle_legacy {

void TrainOptions::set(std::string_view name, std::string value) {
  const auto known = std::ranges::find(all_, name, &std::pair<std::string, std::string>::first);
  if (known == all_.end()) {
    all_.emplace_back(name, std::move(value));
  } else {
    known->second = std::move(value);
  }
}

TrainOptions default_options(const Settings& settings) {
  TrainOptions options;
  options.set("dot_period", "10");
  options.set("ports_num", std::to_string(settings.ports_num));
  options.set("ports_num_for_sparse", std::to_string(settings.ports_num_sparse));
  options.set("log_period", "50");
  options.set("num_passes", "10");
  options.set("trainer_count", std::to_string(settings.trainer_count));
  options.set("saving_period", "1");
  options.set("local", "0");
  options.set("config", "trainer_config.lr.py");
  options.set("use_gpu", "0");
  return options;
}

Result<void> add_options(TrainOptions& options, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (!word.starts_with("--") || word.size() == 2 || word[2] == '=') {
      return fail(ErrorCode::BadRequest,
                  fmt::format("\"{}\" is not an option; options of the trainer are written "
                              "--name=value or --name value",
                              word));
    }
    word.remove_prefix(2);
    if (const auto equals = word.find('='); equals != std::string_view::npos) {
      options.set(word.substr(0, equals), std::string(word.substr(equals + 1)));
    } else if (i + 1 < words.size() && !words[i + 1].starts_with("--")) {
      options.set(word, words[++i]);
    } else {
      return fail(ErrorCode::BadRequest,
                  fmt::format("--{} has no value; write --{}=value", word, word));
    }
  }
  return {};
}

}  // namespace muster::agent::paddle_legacy
