#include "cli/run/operator_missing.h"

#include "cluster/leader.h"
#include "verb_fixture.h"

namespace muster::cli {
namespace {

class OperatorMissing : public VerbTest {
 protected:
  void hold(const std::string& name, const std::string& holder, Duration ago, int seconds = 15) {
    create(api::leases(),
           json::Object{{"apiVersion", "coordination.k8s.io/v1"},
                        {"kind", "Lease"},
                        {"metadata", json::Object{{"name", name}, {"namespace", "default"}}},
                        {"spec", json::Object{{"holderIdentity", holder},
                                              {"leaseDurationSeconds", seconds},
                                              {"renewTime", format_micro_time(now() - ago)}}}});
  }
  [[nodiscard]] Time now() { return loop().now(); }
  bool somebody_leads() { return loop().run(has_leader(cluster(), toy_, now())); }

  const ToyKind& toy_ = kind("Toy", "toy.dev");
  const std::string ours_ = cluster::LeaderOptions{}.name;
};

TEST_F(OperatorMissing, NobodyHoldsTheLease) {
  EXPECT_FALSE(somebody_leads());
}
TEST_F(OperatorMissing, SomebodyRenewedItJustNow) {
  hold(ours_, "operator-1", std::chrono::seconds(3));
  EXPECT_TRUE(somebody_leads());
}
TEST_F(OperatorMissing, TheLastOneIsGoneForTooLong) {
  hold(ours_, "operator-1", std::chrono::seconds(16));
  EXPECT_FALSE(somebody_leads());
}
TEST_F(OperatorMissing, TheLastOneGaveItBack) {
  hold(ours_, "", std::chrono::seconds(1));
  EXPECT_FALSE(somebody_leads());
}
TEST_F(OperatorMissing, OthersLeasesSayNothing) {
  hold("somebody-else", "operator-1", std::chrono::seconds(1));
  EXPECT_FALSE(somebody_leads());
}

}  // namespace
}  // namespace muster::cli
