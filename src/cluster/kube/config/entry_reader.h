#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cluster/kube/config/files.h"
#include "json/value.h"

namespace muster::cluster::kube {

// A mapping of a kubeconfig being read: knows how to call itself in messages and where its relative
// paths start. What it is made of outlives it.
class EntryReader {
 public:
  // `where` begins every message: config: user "me".
  EntryReader(const json::Value& value, const std::string& file, std::string where,
              const FileReader& files)
      : value_(value), file_(file), where_(std::move(where)), files_(files) {}

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] bool has(std::string_view field) const;

  // Nothing, when there is nothing: "", false, no words.
  [[nodiscard]] Result<std::string> text(std::string_view field) const;
  [[nodiscard]] Result<bool> flag(std::string_view field) const;
  [[nodiscard]] Result<std::vector<std::string>> texts(std::string_view field) const;
  // The path in a field, relative to the kubeconfig's own folder; empty when the field is.
  [[nodiscard]] Result<std::string> path(std::string_view field) const;
  // `path` as it is reached from the kubeconfig's own folder.
  [[nodiscard]] std::string beside_file(const std::string& path) const;
  // The file that data_or_file() reads; empty when it reads none.
  [[nodiscard]] Result<std::string> file_behind(std::string_view field) const;
  // `field`-data decoded, else the file that `field` names, else nothing.
  [[nodiscard]] Result<std::string> data_or_file(std::string_view field) const;
  [[nodiscard]] Result<void> check_pem(std::string_view field, std::string_view pem) const;

  // A mapping or a list inside; null when it is not there.
  [[nodiscard]] Result<const json::Value*> mapping(std::string_view field) const;
  [[nodiscard]] Result<const json::Value*> list(std::string_view field) const;
  [[nodiscard]] EntryReader inside(const json::Value& value, std::string_view name) const;

  [[nodiscard]] std::unexpected<Error> invalid(std::string_view message) const;

 private:
  const json::Value& value_;
  const std::string& file_;
  std::string where_;
  const FileReader& files_;
};

// Quoted and harmless on a terminal.
std::string quoted(std::string_view text);

}  // namespace muster::cluster::kube
