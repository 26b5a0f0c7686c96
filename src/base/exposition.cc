#include "base/exposition.h"

#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace muster::exposition {
namespace {

std::string_view to_string(Type type) {
  switch (type) {
    case Type::Counter:
      return "counter";
    case Type::Gauge:
      return "gauge";
    case Type::Histogram:
      return "histogram";
  }
  return "untyped";
}

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

void append_labels(std::string& out, Labels labels, std::string_view bound = "") {
  std::vector<std::string> parts;
  for (const auto& [name, value] : labels)
    parts.push_back(fmt::format("{}=\"{}\"", name, escaped(value)));
  if (!bound.empty()) parts.push_back(fmt::format("le=\"{}\"", bound));
  if (!parts.empty()) fmt::format_to(std::back_inserter(out), "{{{}}}", fmt::join(parts, ","));
}

}  // namespace

void open(std::string& out, std::string_view name, Type type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help,
                 to_string(type));
}

void sample_text(std::string& out, std::string_view name, Labels labels, std::string_view value) {
  out += name;
  append_labels(out, labels);
  fmt::format_to(std::back_inserter(out), " {}\n", value);
}

void sample(std::string& out, std::string_view name, Labels labels, double value) {
  // Microseconds are enough, and an exponent would be one more thing to read.
  sample_text(out, name, labels, fmt::format("{:.6f}", value));
}

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

void Histogram::record(Duration took) {
  ++count_;
  sum_ += took;
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    if (seconds(took) <= kBounds[i]) ++at_most_[i];
  }
}

void Histogram::append(std::string& out, std::string_view name, Labels labels) const {
  const auto bucket = [&](std::string_view bound, std::uint64_t value) {
    fmt::format_to(std::back_inserter(out), "{}_bucket", name);
    append_labels(out, labels, bound);
    fmt::format_to(std::back_inserter(out), " {}\n", value);
  };
  for (std::size_t i = 0; i < kBounds.size(); ++i)
    bucket(fmt::format("{}", kBounds[i]), at_most_[i]);
  bucket("+Inf", count_);
  sample(out, fmt::format("{}_sum", name), labels, seconds(sum_));
  sample(out, fmt::format("{}_count", name), labels, count_);
}

}  // namespace muster::exposition
