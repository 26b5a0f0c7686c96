// Any bytes as the path of --set: what it sets can be found there.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cli/fields/field_path.h"
#include "json/read.h"

namespace {

using namespace muster;

const json::Value& object() {
  static const json::Value made = *json::read(
      R"({"kind":"Job","spec":{"list":[{"a":1},{"b":[2,3]}],"map":{"x.y/z":"v"},"text":"t"}})");
  return made;
}

const json::Value* at(const json::Value& from, const cli::FieldPath& path) {
  const json::Value* found = &from;
  for (const cli::FieldStep& step : path.steps) {
    found = std::holds_alternative<std::size_t>(step) ? &(*found)[std::get<std::size_t>(step)]
                                                      : &(*found)[std::get<std::string>(step)];
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto path = cli::FieldPath::parse(text)) {
    json::Value changed = object();
    if (cli::set_field(*path, "set", changed)) CHECK(at(changed, *path)->as_string() == "set");
    json::Value emptied = object();
    static_cast<void>(cli::set_field(*path, json::Value(), emptied));
  }
  return 0;
}
