#pragma once

#include <memory>

#include "controller/controller.h"
#include "faulty_cluster.h"
#include "rt/scope.h"
#include "world.h"

namespace muster::simulation {

// One life of the controller process.
struct Incarnation {
  Incarnation(rt::Loop& loop, cluster::Cluster& inner, Wire& wire, const plan::Registry& registry,
              std::uint64_t seed, const Mutant* mutant)
      : rng(seed), cluster(inner, wire), scope(loop) {
    controller::Controller::Options options;
    options.workers = 4;
    cluster::Cluster* way = &cluster;
    if (mutant != nullptr && mutant->cluster) {
      mutated = mutant->cluster(cluster);
      way = mutated.get();
    }
    if (mutant != nullptr && mutant->decide) options.decide = mutant->decide();
    controller =
        std::make_unique<controller::Controller>(loop, *way, registry, rng, Logger(), options);
    scope.spawn(controller->run());
  }

  SeededRng rng;
  FaultyCluster cluster;
  std::unique_ptr<cluster::Cluster> mutated;
  std::unique_ptr<controller::Controller> controller;
  rt::TaskScope scope;
};

}  // namespace muster::simulation
