#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/jobs/manifest.h"

namespace muster::cli {

// What becomes of fields that a kind does not know; kubectl's words.
enum class Validation { Strict, Warn, Ignore };
Result<Validation> parse_validation(const std::string& word);

// How `run` takes what it is given.
struct SubmissionOptions {
  Validation validation = Validation::Strict;
  std::vector<std::string> set;     // PATH=VALUE
  std::vector<std::string> env;     // NAME[=VALUE]
  std::vector<std::string> mounts;  // DIR[:PATH][:ro]
};

// The manifests of a run, changed as the command line says, and checked: a field that nobody knows
// is refused with its place and what was probably meant, or told as a warning.
Result<std::vector<Manifest>> manifests_for_run(Context& context,
                                                const std::vector<std::string>& files,
                                                const SubmissionOptions& options);

}  // namespace muster::cli
