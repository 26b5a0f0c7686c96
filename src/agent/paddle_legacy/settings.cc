#include "agent/paddle_legacy/settings.h"

#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::agent::paddle_legacy {
namespace {

constexpr int kLastPort = 65535;
// As many as the list of addresses can reasonably have; keeps every sum below within an int.
constexpr int kMostPods = 100'000;

class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  std::string text(const char* name) {
    auto value = environment_.get(name);
    if (value.empty()) missing_.emplace_back(name);
    return value;
  }

  int number(const char* name, int least, int most) {
    const auto value = text(name);
    return value.empty() ? 0 : number(name, value, least, most);
  }

  int number_or(const char* name, int otherwise, int least, int most) {
    const auto value = environment_.get(name);
    return value.empty() ? otherwise : number(name, value, least, most);
  }

  void missing(std::string what) { missing_.push_back(std::move(what)); }

  [[nodiscard]] Result<void> finish() const {
    if (!missing_.empty()) {
      return fail(ErrorCode::Invalid,
                  fmt::format("the container's environment lacks {}", join(missing_, ", ")));
    }
    if (!wrong_.empty()) return fail(ErrorCode::Invalid, wrong_);
    return {};
  }

 private:
  int number(const char* name, const std::string& value, int least, int most) {
    const auto number = parse_int(value);
    if (number && *number >= least && *number <= most) return static_cast<int>(*number);
    if (wrong_.empty()) {
      wrong_ =
          fmt::format("{} is \"{}\"; it must be a number from {} to {}", name, value, least, most);
    }
    return 0;
  }

  const Environment& environment_;
  std::vector<std::string> missing_;
  std::string wrong_;  // the first one
};

}  // namespace

Result<Settings> read_settings(const Environment& environment, const std::string& pod_namespace) {
  Reader reader(environment);
  Settings out{.job_name = reader.text("JOB_NAME"),
               .job_namespace = environment.get("JOB_NAMESPACE"),
               .job_path = reader.text("JOB_PATH"),
               .config_directory = reader.text("TRAIN_CONFIG_DIR"),
               .nic = reader.text("CONF_PADDLE_NIC"),
               .port = reader.number("CONF_PADDLE_PORT", 1, kLastPort),
               .ports_num = reader.number("CONF_PADDLE_PORTS_NUM", 1, kLastPort),
               .ports_num_sparse = reader.number("CONF_PADDLE_PORTS_NUM_SPARSE", 0, kLastPort),
               .gradient_num = reader.number("CONF_PADDLE_GRADIENT_NUM", 1, kMostPods),
               .trainer_count = reader.number_or("TRAINER_COUNT", 1, 1, kLastPort)};
  if (out.job_namespace.empty()) out.job_namespace = pod_namespace;
  if (out.job_namespace.empty()) {
    reader.missing("JOB_NAMESPACE (and no service account is mounted that would tell the pod's)");
  }
  TRY(reader.finish());
  const int last = out.port + out.ports_num + out.ports_num_sparse - 1;
  if (last > kLastPort) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("CONF_PADDLE_PORT {} and the ports after it end at {}; the last port is {}",
                    out.port, last, kLastPort));
  }
  return out;
}

}  // namespace muster::agent::paddle_legacy
