#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "cli/cluster/images_file.h"
#include "cli/jobs/manifest.h"
#include "cli/print_error.h"
#include "cli/terminal/columns.h"
#include "cli/verbs/verbs.h"
#include "node/pod/container/images.h"

namespace muster::cli {
namespace {

struct UsedImage {
  std::string object;  // Pod bert
  std::string container;
  std::string image;
  bool has_command = false;
};

// Every container of an object, whatever its kind: all have them in lists of these names.
void collect(const json::Value& value, const std::string& object, std::vector<UsedImage>& out) {
  for (const json::Value& item : value.as_array()) collect(item, object, out);
  for (const auto& [key, member] : value.as_object()) {
    if (key != "containers" && key != "initContainers") {
      collect(member, object, out);
      continue;
    }
    for (const json::Value& container : member.as_array()) {
      out.push_back({.object = object,
                     .container = container["name"].as_string(),
                     .image = container["image"].as_string(),
                     .has_command = !container["command"].as_array().empty()});
    }
  }
}

std::string root_of(const node::ImageRow& row) {
  switch (row.root) {
    case node::ImageRow::Root::Host:
      return "host";
    case node::ImageRow::Root::Directory:
      return row.directory;
    case node::ImageRow::Root::DirectoryOverHost:
      return row.directory + " over the host";
  }
  return "";
}

std::string in_words(const std::vector<std::string>& words) {
  return words.empty() ? "-" : fmt::format("{}", fmt::join(words, " "));
}

void print_rows(Output& output, const std::vector<WrittenRow>& rows, const std::string& home) {
  if (rows.empty()) {
    output.print("No rows: {}/images.yaml does not exist or is empty.\n", home);
    return;
  }
  std::vector<std::vector<std::string>> table = {
      {"PATTERN", "ROOT", "ENTRYPOINT", "CMD", "WORKDIR", "WHERE"}};
  for (const auto& [row, where] : rows) {
    table.push_back({row.pattern, root_of(row), in_words(row.entrypoint), in_words(row.cmd),
                     row.workdir.empty() ? "/" : row.workdir, where});
  }
  output.print("{}", columns(table));
}

// What becomes of a container here; true: it cannot start.
std::pair<std::string, bool> outlook(const UsedImage& used, const std::vector<WrittenRow>& rows) {
  const auto row = std::ranges::find_if(
      rows, [&](const WrittenRow& written) { return node::matches(written.row, used.image); });
  if (row != rows.end()) {
    const bool runs = used.has_command || !row->row.entrypoint.empty() || !row->row.cmd.empty();
    return {fmt::format("{}{}", row->where,
                        runs ? "" : "; neither it nor the container names a program"),
            !runs};
  }
  if (node::find_image({}, used.image) != nullptr) return {"built in", false};
  if (used.has_command) return {"none; its command runs on the host's root", false};
  return {"none, and no command: give the container a command, or add a row", true};
}

int print_outlooks(Output& output, const std::vector<Manifest>& manifests,
                   const std::vector<WrittenRow>& rows) {
  std::vector<UsedImage> used;
  for (const Manifest& manifest : manifests) {
    collect(manifest.object,
            fmt::format("{} {}", manifest.resource.kind, api::name_of(manifest.object)), used);
  }
  if (used.empty()) {
    output.print("No containers in the manifest.\n");
    return exit_code::kOk;
  }
  std::vector<std::vector<std::string>> table = {{"IMAGE", "OBJECT", "CONTAINER", "ROW"}};
  bool any = false;
  for (const UsedImage& one : used) {
    auto [text, lacking] = outlook(one, rows);
    any = any || lacking;
    table.push_back({one.image, one.object, one.container, std::move(text)});
  }
  output.print("{}", columns(table));
  return any ? exit_code::kFailed : exit_code::kOk;
}

}  // namespace

int images(const Context& context, const ImagesOptions& options) {
  const auto rows = read_images(context);
  if (!rows) {
    print_error(context.output, rows.error());
    return exit_code::kFailed;
  }
  if (options.files.empty()) {
    print_rows(context.output, *rows, context.home);
    return exit_code::kOk;
  }
  const auto manifests =
      load_manifests(options.files, context.registry, context.ns.empty() ? "default" : context.ns,
                     TargetKind::Embedded);
  if (!manifests) {
    print_error(context.output, manifests.error());
    return exit_code::kFailed;
  }
  return print_outlooks(context.output, *manifests, *rows);
}

}  // namespace muster::cli
