#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/manifests/recorded.h"
#include "json/value.h"

namespace muster::cli {

// What the ranks of a run wrote below the submitter's directory and outside of volumes: it went
// with them, which surprises everybody once.
class LostFiles {
 public:
  // A pod as it was last seen, also one that is being deleted. Any number of times.
  void see(const json::Value& pod);

  // One sentence with the remedy, for somebody who is in that directory; nothing when nothing was
  // lost.
  [[nodiscard]] std::optional<std::string> sentence(
      const std::string& here = current_directory()) const;

 private:
  std::map<std::string, std::int64_t> by_pod_;  // uid
  std::string directory_;
};

}  // namespace muster::cli
