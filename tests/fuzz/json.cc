// Whatever the JSON reader accepts, the writers give back.
#include "json/read.h"

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/write.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const auto value = json::read({reinterpret_cast<const char*>(data), size});
  if (!value) return 0;
  const auto compact = json::read(json::write(*value));
  CHECK(compact && *compact == *value);
  const auto pretty = json::read(json::write_pretty(*value));
  CHECK(pretty && *pretty == *value);
  CHECK(json::write_canonical(*compact) == json::write_canonical(*value));
  return 0;
}
