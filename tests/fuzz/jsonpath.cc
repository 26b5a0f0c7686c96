// Any bytes as a JSONPath and as a template of it: nothing crashes, and what can be read can be
// applied.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/query/jsonpath.h"
#include "json/read.h"

namespace {

using namespace muster;

const json::Value& object() {
  static const json::Value made = *json::read(
      R"({"kind":"List","items":[{"a":{"b":[1,2,{"c":"x"}]},"n":3,"t":true},{"a":null,"n":-1.5},{"a.b/c":"d"}]})");
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto path = cli::JsonPath::parse(text)) static_cast<void>(path->find(object()));
  if (const auto form = cli::JsonPathTemplate::parse(text))
    static_cast<void>(form->apply(object()));
  return 0;
}
