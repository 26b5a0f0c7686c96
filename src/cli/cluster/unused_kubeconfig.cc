#include "cli/cluster/unused_kubeconfig.h"

#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/cluster/network_api.h"

namespace muster::cli {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

void note_unused_kubeconfig(const Context& context) {
  const std::string value = context.env("KUBECONFIG");
  if (value.empty() || context.wants_cluster() || value == kubeconfig_path(context.home)) return;
  const std::string told = context.home + "/unused-kubeconfig";
  if (text_of(told) == value) return;
  context.output.note(
      "note: this is about this machine; KUBECONFIG is not used, the cluster that it names is "
      "meant with --kubeconfig {}\n",
      printable(value));
  // Where nothing can be written it is said again: a nuisance at worst.
  ::mkdir(context.home.c_str(), S_IRWXU);
  std::ofstream(told, std::ios::binary | std::ios::trunc) << value;
}

}  // namespace muster::cli
