#include "node/shim/wire.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace muster::node::shim {

static_assert(std::endian::native == std::endian::little, "records are written little-endian");

Writer& Writer::number(std::int64_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes_.append(raw, sizeof raw);
  return *this;
}

Writer& Writer::text(std::string_view value) {
  number(static_cast<std::int64_t>(value.size()));
  bytes_.append(value);
  return *this;
}

Writer& Writer::texts(const std::vector<std::string>& values) {
  number(static_cast<std::int64_t>(values.size()));
  for (const auto& value : values) text(value);
  return *this;
}

std::int64_t Reader::number() {
  std::int64_t value = 0;
  if (rest_.size() < sizeof value) {
    ok_ = false;
    rest_ = {};
    return 0;
  }
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_.remove_prefix(sizeof value);
  return value;
}

std::string Reader::text() {
  const auto size = number();
  if (size < 0 || static_cast<std::uint64_t>(size) > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  std::string value(rest_.substr(0, static_cast<std::size_t>(size)));
  rest_.remove_prefix(value.size());
  return value;
}

std::size_t Reader::count() {
  const auto many = number();
  if (many < 0 || static_cast<std::uint64_t>(many) > rest_.size() / sizeof(std::int64_t)) {
    ok_ = false;
    rest_ = {};
    return 0;
  }
  return static_cast<std::size_t>(many);
}

std::vector<std::string> Reader::texts() {
  std::vector<std::string> values(count());
  for (auto& value : values) value = text();
  return values;
}

std::string with_version(std::string_view bytes, int version) {
  if (version == 0) return std::string(bytes);
  return Writer().number(-std::int64_t{version}).bytes() + std::string(bytes);
}

int take_version(std::string_view& bytes) {
  Reader in(bytes);
  const auto first = in.number();
  if (!in.ok() || first >= 0) return 0;
  bytes.remove_prefix(sizeof first);
  return static_cast<int>(-std::max<std::int64_t>(first, -std::numeric_limits<int>::max()));
}

Result<int> take_known_version(std::string_view& bytes) {
  const int version = take_version(bytes);
  if (version <= kWireVersion) return version;
  return fail(ErrorCode::Parse, "it has version " + std::to_string(version) +
                                    ", this program knows those up to " +
                                    std::to_string(kWireVersion));
}

std::string frame(std::string_view payload) {
  const auto size = static_cast<std::uint32_t>(payload.size());
  std::string out(sizeof size, '\0');
  std::memcpy(out.data(), &size, sizeof size);
  out.append(payload);
  return out;
}

Result<std::optional<std::string>> take_frame(std::string& buffer) {
  std::uint32_t size = 0;
  if (buffer.size() < sizeof size) return std::optional<std::string>();
  std::memcpy(&size, buffer.data(), sizeof size);
  if (size > kMaxFrameBytes) return fail(ErrorCode::TooLarge, "a frame larger than 8 MiB");
  if (buffer.size() < sizeof size + size) return std::optional<std::string>();
  std::string payload = buffer.substr(sizeof size, size);
  buffer.erase(0, sizeof size + size);
  return std::optional(std::move(payload));
}

}  // namespace muster::node::shim
