#include "mutants.h"

#include <memory>
#include <utility>

#include "mutant_clusters.h"
#include "mutant_policies.h"

namespace muster::simulation {
namespace {

using Kind = Fault::Kind;

Mutant policy(std::string name, Decide (*make)()) {
  return {.name = std::move(name), .decide = make, .cluster = nullptr};
}

template <class Wrapper>
Mutant way(std::string name) {
  return {.name = std::move(name), .decide = nullptr, .cluster = [](cluster::Cluster& inner) {
            return std::make_unique<Wrapper>(inner);
          }};
}

template <class Wrapper>
Mutant both(std::string name, Decide (*make)()) {
  Mutant made = way<Wrapper>(std::move(name));
  made.decide = make;
  return made;
}

}  // namespace

std::vector<Specimen> zoo() {
  return {
      {way<NoUidOnDelete>("no UID on delete"), "restart", Kind::None, "S6"},
      {way<NoVersionOnStatus>("no RV on status"), "create", Kind::None, "S9"},
      {way<AdoptByName>("adopt by name"), "foreign", Kind::None, "S7"},
      {policy("terminating counted as gone", &blind_to_terminating), "bounce", Kind::None, "S15"},
      {policy("edge-triggered failure", &edge_triggered), "restart", Kind::CrashBefore, "O1"},
      {policy("restart counted after delete", &commits_late), "restart", Kind::None, "S6"},
      {policy("own deletions counted as losses", &blames_itself_for_losses), "completions_held",
       Kind::None, "S5"},
      {policy("retry never counted", &forgets_the_retry), "restart", Kind::None, "S3"},
      {way<AmbiguousCreateIgnored>("ambiguous create ignored"), "create", Kind::TimeoutBefore,
       "L1"},
      {way<ConflictAsSuccess>("409 as success"), "restart", Kind::Conflict, "S6"},
      {way<ExpiryAsEnd>("410 as EOF, no relist"), "restart", Kind::ExpireWatch, "L1"},
      {way<ResumesTooLate>("resume from bookmark+1"), "restart", Kind::CutWatch, "L1"},
      {way<ForceDelete>("force-delete"), "bounce", Kind::None, "S1"},
      {policy("terminal overwritten by late pod", &overwrites_the_end), "success", Kind::None,
       "S4"},
      {policy("rank from list order", &ranks_by_list_order), "restart", Kind::CrashAfter, "S6"},
      {policy("services leaked", &leaks_services), "success", Kind::None, "O1"},
      {policy("surplus kept", &keeps_surplus), "scale", Kind::None, "O1"},
      {policy("epochs mixed", &mixes_epochs), "create", Kind::None, "S2"},
      {policy("TTL from creation", &counts_life_from_birth), "ttl", Kind::None, "S6"},
      {policy("suspended pods kept", &keeps_suspended_pods), "suspend", Kind::None, "L1"},
      {policy("resumed too early", &resumes_too_early), "suspend", Kind::None, "S15"},
      {policy("disruption taken for a failure", &blames_the_program_for_disruptions), "disruption",
       Kind::None, "O1"},
      {policy("old list of ranks kept", &trusts_old_lists), "barrier_scale", Kind::None, "S10"},
      {way<MakesKeysAnew>("key made anew"), "pause", Kind::None, "S11"},
      {policy("kept objects cleared by a pause", &clears_away_when_paused), "pause", Kind::None,
       "S6"},
      {policy("keys never made", &makes_no_keys), "pause", Kind::None, "L1"},
      {policy("hot loop on equal spec", &always_has_news), "create", Kind::None, "L1"},
      {policy("back-off limit ignored", &knows_no_limit), "master_fails", Kind::None, "S5"},
      {policy("deadline ignored", &knows_no_deadline), "deadline", Kind::None, "L1"},
      {policy("suspend obeyed only before the start", &holds_only_the_new), "suspend", Kind::None,
       "L1"},
      {policy("edits never read", &reads_no_edits), "scale", Kind::None, "L1"},
      {policy("observedGeneration late", &says_an_old_generation), "create", Kind::None, "S12"},
      {policy("status from deeds", &counts_its_own_deeds), "create", Kind::None, "S12"},
      {policy("unreachable taken for failed", &gives_up_the_unreachable), "create", Kind::NodeAway,
       "S6"},
      {policy("exit code lost", &forgets_exit_codes), "restart", Kind::None, "O1"},
      {policy("pods left at the end", &leaves_pods_at_the_end), "failure", Kind::None, "O1"},
      {way<OwnerWithoutUid>("owner ref without UID"), "create", Kind::None, "S7"},
      {both<ForcesItsWay>("force-delete on unreachable node", &blind_to_terminating), "create",
       Kind::NodeEvicted, "S1"},
      {way<OwnsByPrefix>("selector by name prefix"), "success", Kind::None, "S6", "barrier"},
  };
}

}  // namespace muster::simulation
