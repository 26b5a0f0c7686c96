#include "cli/run/reports.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "json/write.h"

namespace muster::cli {
namespace {

Result<void> write_file(const std::string& path, std::string_view text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.valid()) return fail_errno("cannot write " + path);
  while (!text.empty()) {
    const auto count = ::write(file.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("cannot write " + path);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace

Result<void> check_reports(const Reports& reports) {
  for (const std::string& path : {reports.json_file, reports.junit_file}) {
    if (!path.empty()) TRY(write_file(path, ""));
  }
  return {};
}

Result<void> write_reports(Output& output, const Reports& reports,
                           const std::vector<RunResult>& results, int code,
                           const std::string& error) {
  const std::string report = json::write_pretty(report_of(results, code, error)) + "\n";
  if (reports.print) output.write(report);
  if (!reports.json_file.empty()) TRY(write_file(reports.json_file, report));
  if (!reports.junit_file.empty()) TRY(write_file(reports.junit_file, junit_of(results, error)));
  return {};
}

}  // namespace muster::cli
