#include "dialects/registry.h"

#include "dialects/mindspore.h"

namespace muster::dialects {

plan::Registry make_registry() {
  plan::Registry registry;
  registry.add(make_mindspore());
  return registry;
}

}  // namespace muster::dialects
