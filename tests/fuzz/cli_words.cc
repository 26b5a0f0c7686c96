// Any text as what follows a flag or a verb, and as images.yaml: refused in words, or understood.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/check.h"
#include "base/strings.h"
#include "cli/cluster/bind_address.h"
#include "cli/cluster/capacity.h"
#include "cli/cluster/images_file.h"
#include "cli/doctor/cluster_facts.h"
#include "cli/jobs/duration.h"
#include "cli/jobs/find_job.h"
#include "cli/jobs/rank_filter.h"
#include "cli/logs/log_target.h"
#include "cli/manifests/edits.h"
#include "cli/manifests/for_run.h"
#include "cli/objects/goal.h"
#include "cli/objects/object_names.h"
#include "cli/tables/format.h"
#include "dialects/registry.h"
#include "json/read.h"

using namespace muster;
using namespace muster::cli;

namespace {

const json::Value& object() {
  static const json::Value made = *json::read(
      R"({"kind":"Pod","metadata":{"name":"a"},"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  return made;
}

const plan::Registry& registry() {
  static const plan::Registry made = dialects::make_registry();
  return made;
}

void names(const std::string& text) {
  (void)parse_http_date(text);
  (void)parse_name(registry(), text);
  (void)parse_job_name(registry(), text);
  (void)parse_log_name(registry(), text);
  std::vector<std::string> words;
  for (const auto word : split(text, ' ')) words.emplace_back(word);
  (void)parse_names(registry(), words);
  (void)parse_only_name(registry(), words);
}

void flags(const std::string& text) {
  (void)parse_bind_address(text);
  (void)parse_capacity(text);
  (void)parse_ranks(text);
  (void)parse_mount(text);
  (void)parse_env(text, {{"HOME", "/root"}});
  (void)parse_validation(text);
  if (const auto duration = parse_duration(text)) {
    CHECK(*duration >= Duration::zero());
    (void)format_duration(*duration);
  }
  if (const auto goal = Goal::parse(text)) (void)goal->reached(object(), nullptr);
  if (const auto format = parse_format(text)) (void)custom_row(format->columns, object());
  if (const auto format = parse_format("custom-columns=" + text)) {
    (void)custom_row(format->columns, object());
  }
  std::vector<Manifest> manifests(1);
  manifests[0].resource = api::pods();
  manifests[0].object = object();
  (void)set_fields({text}, manifests);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  names(text);
  flags(text);
  (void)parse_images(text, "/home/images.yaml");
  return 0;
}
