#include "base/exposition.h"

#include <gtest/gtest.h>

namespace muster::exposition {
namespace {

using namespace std::chrono_literals;

TEST(Exposition, AFamilyOpensWithItsHelpAndType) {
  std::string out;
  figure(out, "jobs_total", Type::Counter, "Jobs.", std::uint64_t{18446744073709551615U});
  figure(out, "busy_seconds", Type::Gauge, "Busy.", 0.25);
  EXPECT_EQ(out,
            "# HELP jobs_total Jobs.\n# TYPE jobs_total counter\njobs_total 18446744073709551615\n"
            "# HELP busy_seconds Busy.\n# TYPE busy_seconds gauge\nbusy_seconds 0.250000\n");
}

TEST(Exposition, WhatALabelHoldsCannotEndIt) {
  std::string out;
  sample(out, "x", {{"a", "C:\\dir \"x\"\nend"}, {"b", ""}}, 1);
  EXPECT_EQ(out, "x{a=\"C:\\\\dir \\\"x\\\"\\nend\",b=\"\"} 1\n");
}

TEST(Exposition, AHistogramCountsUpToEachBound) {
  Histogram took;
  for (const Duration each : {Duration(1ms), Duration(2ms), Duration(3s), Duration(2min)})
    took.record(each);
  std::string out;
  took.append(out, "took_seconds", {{"verb", "GET"}});
  EXPECT_EQ(out,
            "took_seconds_bucket{verb=\"GET\",le=\"0.001\"} 1\n"
            "took_seconds_bucket{verb=\"GET\",le=\"0.005\"} 2\n"
            "took_seconds_bucket{verb=\"GET\",le=\"0.025\"} 2\n"
            "took_seconds_bucket{verb=\"GET\",le=\"0.1\"} 2\n"
            "took_seconds_bucket{verb=\"GET\",le=\"0.5\"} 2\n"
            "took_seconds_bucket{verb=\"GET\",le=\"2.5\"} 2\n"
            "took_seconds_bucket{verb=\"GET\",le=\"10\"} 3\n"
            "took_seconds_bucket{verb=\"GET\",le=\"60\"} 3\n"
            "took_seconds_bucket{verb=\"GET\",le=\"+Inf\"} 4\n"
            "took_seconds_sum{verb=\"GET\"} 123.003000\n"
            "took_seconds_count{verb=\"GET\"} 4\n");
}

}  // namespace
}  // namespace muster::exposition
