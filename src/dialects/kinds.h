#pragma once

#include <memory>

#include "dialects/registry.h"
#include "plan/dialect.h"

// One line a kind; each is made in the file of its name. Immutable; any thread may use them.
namespace muster::dialects {

std::unique_ptr<const plan::Dialect> make_msjob();       // mindspore.gitee.com/v1
std::unique_ptr<const plan::Dialect> make_msjob_2020();  // kubeflow.org/v1
std::unique_ptr<const plan::Dialect> make_paddlejob();   // batch.paddlepaddle.org/v1
std::unique_ptr<const plan::Dialect> make_chainerjob(
    const Settings& settings);  // kubeflow.org/v1alpha1
// batch.tensorstack.dev/v1beta1
std::unique_ptr<const plan::Dialect> make_t9k_mpijob(const Settings& settings);
std::unique_ptr<const plan::Dialect> make_batch_job();  // batch/v1

}  // namespace muster::dialects
