// Whatever the YAML reader accepts, the writer gives back.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "yaml/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto documents = muster::yaml::read(text);
  const auto with_lines = muster::yaml::read_with_lines(text);
  CHECK(!with_lines || !documents || with_lines->size() == documents->size());
  if (!documents) {
    CHECK(!documents.error().message.empty());
    return 0;
  }
  for (const auto& document : *documents) {
    const auto again = muster::yaml::read(muster::yaml::write(document.value));
    CHECK(again && again->size() == 1);
    CHECK(again->front().value == document.value);
  }
  return 0;
}
