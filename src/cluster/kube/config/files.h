#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"

namespace muster::cluster::kube {

// A kubeconfig with inlined certificates is a few KiB; the largest that people have hold hundreds
// of contexts. Beyond this it is not a kubeconfig.
inline constexpr std::size_t kMaxConfigFileBytes = std::size_t{4} << 20U;

// Where the files that a kubeconfig names come from; tests and fuzzers hand in their own.
class FileReader {
 public:
  virtual ~FileReader() = default;
  // The whole file. NotFound when there is none, TooLarge above kMaxConfigFileBytes.
  [[nodiscard]] virtual Result<std::string> read(const std::string& path) const = 0;
};

// The machine's files.
class HostFiles final : public FileReader {
 public:
  [[nodiscard]] Result<std::string> read(const std::string& path) const override;
};

}  // namespace muster::cluster::kube
