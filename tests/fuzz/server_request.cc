#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "json/read.h"
#include "json/write.h"
#include "plan/dialect.h"
#include "server/http/options.h"
#include "server/http/patch.h"
#include "server/http/request.h"
#include "server/http/request_path.h"

// A request from outside: the first line is the URL, the second Accept, the rest the body, which is
// also tried as a JSON patch and a merge patch on itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto first = text.find('\n');
  const auto second = first == std::string_view::npos ? first : text.find('\n', first + 1);
  net::HttpRequest http{.method = "PATCH", .target = std::string(text.substr(0, first))};
  if (first != std::string_view::npos) {
    http.headers.add("Accept", std::string(text.substr(first + 1, second - first - 1)));
  }
  if (second != std::string_view::npos) http.body = text.substr(second + 1);

  static const plan::Registry kRegistry;
  static const server::Kinds kKinds(kRegistry);
  auto path = server::RequestPath::parse(http.target);
  if (path) {
    auto request = server::read_request(kKinds, http, std::move(*path));
    if (request && *request) {
      (void)server::read_object(**request);
      (void)server::read_delete_options(**request);
      (void)server::read_list_options(**request);
      (void)server::read_watch_options(**request);
      (void)server::read_log_options(**request);
    }
  }
  const auto body = json::read(http.body);
  if (!body) return 0;
  json::Value merged = *body;
  server::merge_patch(merged, *body);
  json::Value patched = (*body)["object"];
  (void)server::json_patch(patched, (*body)["patch"]);
  (void)json::write(patched);
  return 0;
}
