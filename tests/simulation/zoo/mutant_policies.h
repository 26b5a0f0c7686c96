#pragma once

#include "world.h"

// Mutants of the policy, each for one incarnation of the controller.
namespace muster::simulation {

Decide commits_late();
Decide blind_to_terminating();
Decide trusts_old_lists();
Decide edge_triggered();
Decide blames_itself_for_losses();
Decide overwrites_the_end();
Decide ranks_by_list_order();
Decide leaks_services();
Decide keeps_surplus();
Decide counts_life_from_birth();
Decide always_has_news();
Decide forgets_the_retry();
Decide keeps_suspended_pods();
Decide resumes_too_early();
Decide clears_away_when_paused();
Decide makes_no_keys();
Decide blames_the_program_for_disruptions();
Decide mixes_epochs();
Decide knows_no_limit();
Decide knows_no_deadline();
Decide holds_only_the_new();
Decide reads_no_edits();
Decide says_an_old_generation();
Decide counts_its_own_deeds();
Decide gives_up_the_unreachable();
Decide forgets_exit_codes();
Decide leaves_pods_at_the_end();

}  // namespace muster::simulation
