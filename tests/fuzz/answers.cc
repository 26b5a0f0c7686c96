// What an API server may answer, as any bytes: an error or values, and every event of a watch has
// an object.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/object.h"
#include "base/check.h"
#include "cluster/kube/answers.h"
#include "cluster/kube/config/client_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  using namespace muster::cluster::kube;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto object = read_object(text)) CHECK((*object)->is_object());
  if (const auto page = read_list(api::pods(), text)) {
    for (const auto& item : page->items) CHECK(api::kind_of(*item) == "Pod");
  }
  if (const auto left = read_removed(api::pods(), {.ns = "a", .name = "b"}, text)) {
    CHECK(*left != nullptr);
  }
  if (const auto event = read_event(text)) CHECK(event->object != nullptr);
  (void)read_token(text);
  const auto line = text.find('\n');
  const auto error = read_error(400 + static_cast<int>(size % 200), text.substr(0, line),
                                line == std::string_view::npos ? "" : text.substr(line + 1));
  CHECK(!error.message.empty());
  (void)parse_server(text);
  return 0;
}
