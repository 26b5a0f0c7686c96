#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"

// Prometheus' text format, version 0.0.4: a family of figures opens with its HELP and TYPE, its
// samples follow.
namespace muster::exposition {

inline constexpr std::string_view kContentType = "text/plain; version=0.0.4";

enum class Type { Counter, Gauge, Histogram };
using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

void open(std::string& out, std::string_view name, Type type, std::string_view help);

void sample_text(std::string& out, std::string_view name, Labels labels, std::string_view value);
void sample(std::string& out, std::string_view name, Labels labels, double value);
template <std::integral T>
void sample(std::string& out, std::string_view name, Labels labels, T value) {
  sample_text(out, name, labels, std::to_string(value));
}
// A family of one sample.
template <class T>
void figure(std::string& out, std::string_view name, Type type, std::string_view help, T value) {
  open(out, name, type, help);
  sample(out, name, {}, value);
}

double seconds(Duration duration);

// How long something took, ever.
class Histogram {
 public:
  void record(Duration took);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Its samples; the family is opened by the caller.
  void append(std::string& out, std::string_view name, Labels labels) const;

 private:
  // From a look at a cache to what waits a minute for its turn.
  static constexpr std::array<double, 8> kBounds = {0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60};

  std::array<std::uint64_t, kBounds.size()> at_most_{};
  std::uint64_t count_ = 0;
  Duration sum_{};
};

}  // namespace muster::exposition
