#include "dialects/registry.h"

#include "dialects/kinds.h"

namespace muster::dialects {

plan::Registry make_registry(const Settings& settings) {
  plan::Registry registry;
  registry.add(make_msjob());
  registry.add(make_msjob_2020());
  registry.add(make_paddlejob());
  registry.add(make_chainerjob(settings));
  registry.add(make_t9k_mpijob(settings));
  registry.add(make_batch_job());
  return registry;
}

}  // namespace muster::dialects
