#include "engine/ending/remark.h"

#include "api/event.h"
#include "base/strings.h"

namespace muster::engine {
namespace {

std::string_view remark_in(std::string_view message) {
  for (const std::string_view line : split(message, '\n')) {
    if (line.starts_with(plan::kRemark)) return line.substr(plan::kRemark.size());
  }
  return {};
}

}  // namespace

std::string remark_of(const plan::Plan& plan, const Census& census) {
  for (const plan::Role& role : plan.roles) {
    if (!role.remarks) continue;
    for (const Rank& rank : census.ranks_of(role)) {
      const ContainerView* main = rank.main();
      if (main == nullptr || !main->exit_code) continue;
      const std::string_view remark = remark_in(main->message);
      if (!remark.empty()) return api::event_message(trim(remark));
    }
  }
  return "";
}

std::string without_remark(std::string_view message) {
  std::string rest;
  bool cut = false;
  for (const std::string_view line : split(message, '\n')) {
    if (!cut && line.starts_with(plan::kRemark)) {
      cut = true;
      continue;
    }
    if (!rest.empty()) rest += '\n';
    rest += line;
  }
  return rest;
}

}  // namespace muster::engine
