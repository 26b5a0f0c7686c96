#include "node/pod/probes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::node {

namespace {

const char* field_of(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::Startup:
      return "startupProbe";
    case ProbeKind::Liveness:
      return "livenessProbe";
    case ProbeKind::Readiness:
      return "readinessProbe";
  }
  return "";
}

Duration seconds_at(const json::Value& probe, const char* field, std::int64_t otherwise) {
  const auto value = probe[field].as_int();
  return seconds_saturating(value > 0 ? value : otherwise);
}

int count_at(const json::Value& probe, const char* field, int otherwise) {
  const auto value = probe[field].as_int();
  return value > 0 ? static_cast<int>(std::min<std::int64_t>(value, 1'000'000)) : otherwise;
}

std::uint16_t port_of(const json::Value& container, const json::Value& port) {
  std::int64_t number = port.as_int();
  if (port.is_string()) {
    number = parse_int(port.as_string()).value_or(0);
    for (const auto& candidate : container["ports"].as_array()) {
      if (candidate["name"].as_string() == port.as_string()) {
        number = candidate["containerPort"].as_int();
      }
    }
  }
  return number > 0 && number <= 65535 ? static_cast<std::uint16_t>(number) : std::uint16_t{0};
}

}  // namespace

std::string_view to_string(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::Startup:
      return "Startup";
    case ProbeKind::Liveness:
      return "Liveness";
    case ProbeKind::Readiness:
      return "Readiness";
  }
  return "";
}

std::optional<ProbeSpec> probe_of(const json::Value& container, ProbeKind kind) {
  const auto& probe = container[field_of(kind)];
  if (!probe.is_object()) return std::nullopt;
  ProbeSpec out{.initial_delay = seconds_at(probe, "initialDelaySeconds", 0),
                .period = seconds_at(probe, "periodSeconds", 10),
                .timeout = seconds_at(probe, "timeoutSeconds", 1),
                .success_threshold = count_at(probe, "successThreshold", 1),
                .failure_threshold = count_at(probe, "failureThreshold", 3)};
  for (const auto& word : probe["exec"]["command"].as_array())
    out.command.push_back(word.as_string());
  for (const char* handler : {"tcpSocket", "httpGet"}) {
    if (!probe[handler].is_object()) continue;
    out.host = probe[handler]["host"].as_string();
    out.port = port_of(container, probe[handler]["port"]);
  }
  if (const auto& get = probe["httpGet"]; get.is_object()) {
    out.http = HttpCheck{.path = get["path"].as_string()};
    if (!out.http->path.starts_with('/')) out.http->path.insert(0, "/");
    for (const auto& header : get["httpHeaders"].as_array())
      out.http->headers.emplace_back(header["name"].as_string(), header["value"].as_string());
  }
  return out;
}

std::optional<bool> ProbeCounter::add(bool success) {
  if (success != last_) in_a_row_ = 0;
  last_ = success;
  const int threshold = success ? success_threshold_ : failure_threshold_;
  in_a_row_ = std::min(in_a_row_ + 1, threshold);
  if (in_a_row_ < threshold) return std::nullopt;
  return success;
}

void Prober::start(const json::Value& container) {
  liveness_ = probe_of(container, ProbeKind::Liveness);
  readiness_ = probe_of(container, ProbeKind::Readiness);
  if (const auto startup_probe = probe_of(container, ProbeKind::Startup)) {
    scope_.spawn(startup(*startup_probe));
  } else {
    start_others();
  }
}

void Prober::start_others() {
  if (liveness_) scope_.spawn(repeat(ProbeKind::Liveness, *liveness_));
  if (readiness_) scope_.spawn(repeat(ProbeKind::Readiness, *readiness_));
}

Task<Result<std::string>> Prober::run_command(ProbeSpec spec) {
  const auto result =
      co_await runtime_.exec(target_.pod_uid, target_.container, spec.command, spec.timeout);
  if (!result && result.error().code == ErrorCode::Cancelled) co_return fail(result.error());
  if (!result) co_return result.error().message;
  if (result->timed_out) {
    co_return fmt::format("command timed out: \"{}\" timed out after {}s", join(spec.command, " "),
                          std::chrono::duration_cast<std::chrono::seconds>(spec.timeout).count());
  }
  if (result->exit_code == 0) co_return std::string();
  co_return result->output.empty() ? fmt::format("exit {}", result->exit_code) : result->output;
}

Task<Result<std::string>> Prober::ask(ProbeSpec spec) {
  auto check = *spec.http;
  check.address = spec.host.empty() ? target_.pod_ip : spec.host;
  check.port = spec.port;
  const auto where = fmt::format("{}:{}{}", check.address, check.port, check.path);
  const auto status = co_await runtime_.http_check(std::move(check), spec.timeout);
  if (!status && status.error().code == ErrorCode::Cancelled) co_return fail(status.error());
  if (!status) co_return fmt::format("Get \"http://{}\": {}", where, status.error().message);
  if (*status >= 200 && *status < 400) co_return std::string();
  co_return fmt::format("HTTP probe failed with statuscode: {}", *status);
}

Task<Result<std::string>> Prober::connect(ProbeSpec spec) {
  const auto host = spec.host.empty() ? target_.pod_ip : spec.host;
  const auto result = co_await runtime_.tcp_check(host, spec.port, spec.timeout);
  if (!result && result.error().code == ErrorCode::Cancelled) co_return fail(result.error());
  if (result && *result) co_return std::string();
  co_return fmt::format("dial tcp {}:{}: {}", host, spec.port,
                        result ? "connection refused" : result.error().message);
}

Task<Result<bool>> Prober::once(ProbeKind kind, ProbeSpec spec) {
  std::string wrong;
  if (!spec.command.empty()) {
    wrong = CO_TRY(co_await run_command(std::move(spec)));
  } else if (spec.http) {
    wrong = CO_TRY(co_await ask(std::move(spec)));
  } else {
    wrong = CO_TRY(co_await connect(std::move(spec)));
  }
  const bool fine = wrong.empty();
  if (!fine) on_failure_(kind, wrong);
  co_return fine;
}

Task<void> Prober::startup(ProbeSpec spec) {
  ProbeCounter counter(spec.success_threshold, spec.failure_threshold);
  auto waited = co_await rt::sleep_for(loop_, spec.initial_delay);
  while (waited) {
    const auto answer = co_await once(ProbeKind::Startup, spec);
    if (!answer) co_return;
    const auto verdict = counter.add(*answer);
    if (verdict) {
      on_verdict_({.kind = ProbeKind::Startup, .success = *verdict});
      if (*verdict) start_others();
      co_return;  // a failure ends the container, and this prober with it
    }
    waited = co_await rt::sleep_for(loop_, spec.period);
  }
}

Task<void> Prober::repeat(ProbeKind kind, ProbeSpec spec) {
  ProbeCounter counter(spec.success_threshold, spec.failure_threshold);
  auto waited = co_await rt::sleep_for(loop_, spec.initial_delay);
  while (waited) {
    const auto answer = co_await once(kind, spec);
    if (!answer) co_return;
    if (const auto verdict = counter.add(*answer)) on_verdict_({.kind = kind, .success = *verdict});
    waited = co_await rt::sleep_for(loop_, spec.period);
  }
}

}  // namespace muster::node
