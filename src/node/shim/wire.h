#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// The bytes between Muster and its shims, and of the records in a pod's directory: numbers of eight
// bytes and texts with their length in front, read back in the order they were written.
namespace muster::node::shim {

// Records and frames begin with the version of whoever wrote them, as a negative number. The first
// shims wrote none: what lacks it is version 0, for nothing of theirs begins with a negative
// number. A shim answers in the version that it was asked in; Muster asks in the version of the
// shim. Version 2 added what a container may do, the namespaces and sysctls of a pod, and what of a
// volume is mounted.
inline constexpr int kWireVersion = 2;
std::string with_version(std::string_view bytes, int version = kWireVersion);
// Takes it off, whichever it is.
int take_version(std::string_view& bytes);
// The same, but an error for one that is newer than we are.
Result<int> take_known_version(std::string_view& bytes);

// Environment and arguments of an exec are at most 2 MiB for the kernel; the rest is small.
inline constexpr std::size_t kMaxFrameBytes = std::size_t{8} << 20U;

class Writer {
 public:
  // In the format of that version: what it did not know is left out.
  explicit Writer(int version = kWireVersion) : version_(version) {}
  [[nodiscard]] int version() const { return version_; }
  Writer& number(std::int64_t value);
  Writer& text(std::string_view value);
  Writer& texts(const std::vector<std::string>& values);
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  int version_;
};

// Gives zeros and empty texts past the first thing that does not fit; ok() says whether that
// happened.
class Reader {
 public:
  explicit Reader(std::string_view bytes, int version = kWireVersion)
      : rest_(bytes), version_(version) {}
  // Of whoever wrote the bytes: what it did not know is not in them.
  [[nodiscard]] int version() const { return version_; }
  std::int64_t number();
  std::string text();
  std::vector<std::string> texts();
  // A number of things that each take at least eight bytes: bounded by what is left.
  std::size_t count();
  [[nodiscard]] bool ok() const { return ok_; }
  // True when everything was read and nothing was left over.
  [[nodiscard]] bool finished() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  int version_;
  bool ok_ = true;
};

// A frame is its length in four bytes, little-endian, then that many bytes.
std::string frame(std::string_view payload);

// The first whole frame's payload taken off the buffer; nothing when it is not complete yet.
Result<std::optional<std::string>> take_frame(std::string& buffer);

}  // namespace muster::node::shim
