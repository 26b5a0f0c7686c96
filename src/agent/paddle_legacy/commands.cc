#include "agent/paddle_legacy/commands.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::agent::paddle_legacy {
namespace {

constexpr const char* kComment = "--comment=paddle_process_by_paddle";

}  // namespace

std::vector<std::string> pserver_command(const Settings& settings) {
  return {"paddle",
          "pserver",
          fmt::format("--port={}", settings.port),
          fmt::format("--ports_num={}", settings.ports_num),
          fmt::format("--ports_num_for_sparse={}", settings.ports_num_sparse),
          "--nics=" + settings.nic,
          kComment,
          fmt::format("--num_gradient_servers={}", settings.gradient_num)};
}

std::vector<std::string> trainer_command(const Settings& settings, const Roster& roster, int id,
                                         const TrainOptions& options) {
  std::vector<std::string> words{"paddle",
                                 "train",
                                 "--nics=" + settings.nic,
                                 fmt::format("--port={}", settings.port),
                                 fmt::format("--ports_num={}", settings.ports_num),
                                 kComment,
                                 "--pservers=" + join(roster, ",")};
  for (const auto& [name, value] : options.all())
    words.push_back(fmt::format("--{}={}", name, value));
  words.push_back(fmt::format("--trainer_id={}", id));
  words.push_back("--save_dir=" + settings.output());
  return words;
}

std::vector<std::pair<std::string, std::uint16_t>> pserver_endpoints(const Settings& settings,
                                                                     const Roster& roster) {
  std::vector<std::pair<std::string, std::uint16_t>> endpoints;
  for (const auto& address : roster) {
    for (int i = 0; i < settings.ports_num + settings.ports_num_sparse; ++i)
      endpoints.emplace_back(address, static_cast<std::uint16_t>(settings.port + i));
  }
  return endpoints;
}

}  // namespace muster::agent::paddle_legacy
