#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/paddle_legacy/settings.h"
#include "base/error.h"

namespace muster::agent::paddle_legacy {

// Options of `paddle train`, in the order in which each was first given; the last value counts.
class TrainOptions {
 public:
  void set(std::string_view name, std::string value);
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

// What is given to every trainer unless the command line says otherwise.
TrainOptions default_options(const Settings& settings);

// Adds --name=value and --name value. None is known here: they are the trainer's.
Result<void> add_options(TrainOptions& options, const std::vector<std::string>& words);

}  // namespace muster::agent::paddle_legacy
