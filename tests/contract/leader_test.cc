#include "cluster/leader.h"

#include "contract.h"

// Leader election on every cluster, with times that a test can wait for.
namespace muster::contract {
namespace {

class ContractLeader : public Contract {
 protected:
  std::unique_ptr<cluster::Leader> candidate(const std::string& identity) {
    auto leader = std::make_unique<cluster::Leader>(
        loop(), cluster(), rng_,
        cluster::LeaderOptions{
            .ns = ns(),
            .identity = identity,
            .times = {.lease_duration = 3s, .renew_deadline = 2s, .retry = 200ms}});
    leader->start();
    return leader;
  }
  std::string holder() {
    return (*get(api::leases(), "muster-operator"))["spec"]["holderIdentity"].as_string();
  }
};
RUN_ON_EVERY_CLUSTER(ContractLeader);

TEST_P(ContractLeader, ALeaseChangesHandsWhenItIsReleased) {
  const auto first = candidate("first");
  must(first->elected());
  EXPECT_TRUE(first->may_write());
  const auto second = candidate("second");
  EXPECT_EQ(run(rt::with_timeout(loop(), 500ms, second->elected())).error().code,
            ErrorCode::Timeout);
  EXPECT_FALSE(second->may_write());
  EXPECT_EQ(holder(), "first");
  loop().run(first->close());
  EXPECT_FALSE(first->may_write());
  must(second->elected());
  EXPECT_EQ(holder(), "second");
  loop().run(second->close());
  EXPECT_EQ(holder(), "");
}

TEST_P(ContractLeader, ALeaseThatIsNotRenewedIsTaken) {
  Value lease = config_map("muster-operator");
  lease["apiVersion"] = "coordination.k8s.io/v1";
  lease["kind"] = "Lease";
  lease.object().erase("data");
  lease["spec"] = json::Object{
      {"holderIdentity", "dead"}, {"leaseDurationSeconds", 1}, {"leaseTransitions", 4}};
  must(cluster().create(api::leases(), lease));
  const auto next_leader = candidate("next");
  must(next_leader->elected());
  EXPECT_EQ((*get(api::leases(), "muster-operator"))["spec"]["leaseTransitions"], Value(5));
  loop().run(next_leader->close());
}

TEST_P(ContractLeader, OfTwoThatWriteAtOnceOneIsRefused) {
  const auto first = candidate("first");
  must(first->elected());
  const auto seen = get(api::leases(), "muster-operator");
  loop().run(first->close());  // writes once more
  Value late = *seen;
  late["spec"]["holderIdentity"] = "late";
  EXPECT_EQ(error_of(cluster().update(api::leases(), late)), ErrorCode::Conflict);
}

}  // namespace
}  // namespace muster::contract
