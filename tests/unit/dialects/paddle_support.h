#pragma once

#include <string>
#include <string_view>

#include "json/value.h"
#include "plan/dialect.h"

// PaddleJobs for the tests of this folder.
namespace muster::dialects::test {

const plan::Dialect& paddlejob();

// paddle("worker: 2") has two workers of the usual template; what follows are further members of
// spec: paddle("ps: 1, worker: 2", "{intranet: Service}").
json::Value paddle(std::string_view roles, std::string_view more = "{}");

// Its plan; a job that has none fails the test.
plan::Plan paddle_plan(const json::Value& job);

// The ConfigMap's text for a key, with <ROLE INDEX> where an address will be.
std::string config_text(const plan::Plan& plan, const std::string& key);

}  // namespace muster::dialects::test
