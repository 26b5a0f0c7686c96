#include "cli/cluster/images_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "base/strings.h"
#include "yaml/yaml.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFields = {"pattern", "rootfs", "entrypoint", "cmd", "env", "workdir"};

// Reads one document; every message begins with the line of what is wrong.
class ImagesReader {
 public:
  ImagesReader(const yaml::Document& document, const std::string& path)
      : document_(document), path_(path), directory_(fs::absolute(path).parent_path()) {}

  Result<void> read(std::vector<WrittenRow>& rows) const {
    if (!document_.value.is_object())
      return bad("", "the file is a mapping: images, and below it a list of rows");
    for (const auto& [key, value] : document_.value.as_object()) {
      if (key != "images") return bad(key, "is not known here; images is the only key");
    }
    const json::Value& list = document_.value["images"];
    if (!list.is_null() && !list.is_array()) return bad("images", "is a list of rows");
    for (std::size_t i = 0; i < list.as_array().size(); ++i) {
      const auto at = fmt::format("images[{}]", i);
      auto row = TRY(read_row(list.as_array()[i], at));
      const auto same = std::ranges::find_if(
          rows, [&](const WrittenRow& other) { return other.row.pattern == row.pattern; });
      if (same != rows.end()) {
        return bad(at + ".pattern", fmt::format("\"{}\" is already at {}, which comes first",
                                                printable(row.pattern), same->where));
      }
      rows.push_back({.row = std::move(row), .where = place(at)});
    }
    return {};
  }

 private:
  [[nodiscard]] std::string place(const std::string& at) const {
    const auto found = document_.lines.find(at);
    return fmt::format("{}:{}", path_,
                       found == document_.lines.end() ? document_.line : found->second);
  }

  [[nodiscard]] std::unexpected<Error> bad(const std::string& at, std::string_view what) const {
    return fail(ErrorCode::Invalid,
                fmt::format("{}: {}{}{}", place(at), at, at.empty() ? "" : ": ", what));
  }

  [[nodiscard]] Result<node::ImageRow> read_row(const json::Value& row,
                                                const std::string& at) const {
    if (!row.is_object())
      return bad(at, "a row is a mapping, for example {pattern: \"team/*\", rootfs: host}");
    for (const auto& [key, value] : row.as_object()) {
      if (std::ranges::find(kFields, key) == kFields.end()) {
        return bad(at + "." + key,
                   fmt::format("is not known; a row has {}", fmt::join(kFields, ", ")));
      }
    }
    node::ImageRow image;
    if (!row["pattern"].is_null() && !row["pattern"].is_string())
      return bad(at + ".pattern", "is a string; put it in quotes");
    image.pattern = row["pattern"].as_string();
    if (image.pattern.empty())
      return bad(
          row["pattern"].is_null() ? at : at + ".pattern",
          "pattern is needed: an image name, in which * stands for anything, like \"team/*\"");
    TRY(read_root(row["rootfs"], at + ".rootfs", image));
    image.entrypoint = TRY(words(row["entrypoint"], at + ".entrypoint"));
    image.cmd = TRY(words(row["cmd"], at + ".cmd"));
    TRY(read_environment(row["env"], at + ".env", image));
    const json::Value& workdir = row["workdir"];
    if (!workdir.is_null() && !workdir.as_string().starts_with('/'))
      return bad(at + ".workdir", "is an absolute path inside the container");
    image.workdir = workdir.as_string();
    return image;
  }

  Result<void> read_root(const json::Value& root, const std::string& at,
                         node::ImageRow& image) const {
    if (root.is_null() || root.as_string() == "host") return {};
    const json::Value& over = root["overHost"];
    const bool only = root.as_object().size() == 1;
    if (root.is_string() && !root.as_string().empty()) {
      image.root = node::ImageRow::Root::Directory;
      image.directory = root.as_string();
    } else if (only && over.is_string() && !over.as_string().empty()) {
      image.root = node::ImageRow::Root::DirectoryOverHost;
      image.directory = over.as_string();
    } else {
      return bad(at, "is host, a directory, or {overHost: a directory}");
    }
    image.directory = (directory_ / image.directory).lexically_normal();
    if (!fs::is_directory(image.directory))
      return bad(at, fmt::format("{} is not a directory", image.directory));
    return {};
  }

  [[nodiscard]] Result<std::vector<std::string>> words(const json::Value& list,
                                                       const std::string& at) const {
    std::vector<std::string> out;
    if (!list.is_null() && !list.is_array())
      return bad(at, "is a list of words, like [python3, train.py]");
    for (std::size_t i = 0; i < list.as_array().size(); ++i) {
      const json::Value& word = list.as_array()[i];
      if (!word.is_string())
        return bad(fmt::format("{}[{}]", at, i), "is a string; put it in quotes");
      out.push_back(word.as_string());
    }
    return out;
  }

  Result<void> read_environment(const json::Value& variables, const std::string& at,
                                node::ImageRow& image) const {
    if (!variables.is_null() && !variables.is_object())
      return bad(at, "is a mapping of names to strings");
    for (const auto& [name, value] : variables.as_object()) {
      if (!value.is_string()) return bad(at + "." + name, "is a string; put it in quotes");
      image.env[name] = value.as_string();
    }
    return {};
  }

  const yaml::Document& document_;
  const std::string& path_;
  fs::path directory_;
};

enum class WhenMissing { Fail, Nothing };

Result<std::vector<WrittenRow>> read_file(const std::string& path, WhenMissing when_missing) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (when_missing == WhenMissing::Nothing && !fs::exists(path)) return std::vector<WrittenRow>{};
    return fail_errno("cannot read " + path);
  }
  std::ostringstream text;
  text << file.rdbuf();
  return parse_images(text.str(), path);
}

}  // namespace

Result<std::vector<WrittenRow>> parse_images(std::string_view text, const std::string& path) {
  const auto documents = yaml::read_with_lines(text);
  if (!documents) return fail(documents.error().in(path));
  std::vector<WrittenRow> rows;
  for (const auto& document : *documents) TRY(ImagesReader(document, path).read(rows));
  return rows;
}

Result<std::vector<WrittenRow>> read_images(const Context& context) {
  std::vector<WrittenRow> rows;
  for (const std::string& path : context.image_files) {
    for (auto& row : TRY(read_file(path, WhenMissing::Fail))) rows.push_back(std::move(row));
  }
  for (auto& row : TRY(read_file(context.home + "/images.yaml", WhenMissing::Nothing)))
    rows.push_back(std::move(row));
  return rows;
}

}  // namespace muster::cli
