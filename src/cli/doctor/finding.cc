#include "cli/doctor/finding.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/terminal/columns.h"

namespace muster::cli {
namespace {

std::string_view name_of(Health health) {
  switch (health) {
    case Health::Ok:
      return "ok";
    case Health::Warning:
      return "warning";
    case Health::Error:
      return "error";
  }
  return "?";
}

std::int64_t count(const std::vector<Finding>& findings, Health health) {
  return std::ranges::count(findings, health, &Finding::health);
}

std::string several(std::int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace

std::string findings_text(const std::vector<Finding>& findings) {
  std::vector<std::vector<std::string>> rows;
  for (const Finding& finding : findings) {
    rows.push_back({std::string(name_of(finding.health)), finding.check,
                    finding.remedy.empty()
                        ? finding.found
                        : fmt::format("{}; remedy: {}", finding.found, finding.remedy)});
  }
  return fmt::format("{}{}, {}\n", columns(rows), several(count(findings, Health::Error), "error"),
                     several(count(findings, Health::Warning), "warning"));
}

json::Value findings_json(const std::vector<Finding>& findings) {
  json::Array checks;
  for (const Finding& finding : findings) {
    json::Object check{
        {"check", finding.check}, {"health", name_of(finding.health)}, {"found", finding.found}};
    if (!finding.remedy.empty()) check["remedy"] = finding.remedy;
    checks.emplace_back(std::move(check));
  }
  return json::Object{{"checks", std::move(checks)},
                      {"errors", count(findings, Health::Error)},
                      {"warnings", count(findings, Health::Warning)}};
}

bool has_error(const std::vector<Finding>& findings) {
  return count(findings, Health::Error) > 0;
}

}  // namespace muster::cli
