// Any texts as continue token, version and selectors of a list of a running server: a page of what
// is there, or an error. The lines of the input are those four.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/random.h"
#include "base/strings.h"
#include "dialects/registry.h"
#include "json/read.h"
#include "rt/sim_loop.h"
#include "server/embedded.h"
#include "server/rules/addresses.h"

using namespace muster;

namespace {

// A server with three ConfigMaps, for all inputs.
struct Place {
  Place() : loop(Time{}), rng(1), registry(dialects::make_registry()) {
    server = *loop.run(server::EmbeddedServer::create(
        {.loop = loop, .rng = rng, .registry = registry, .home = ""}));
    kind = server->core().kinds().find(api::config_maps());
    for (const char* name : {"a", "b", "c"}) {
      json::Value object = *json::read(R"({"metadata":{"namespace":"default"}})");
      object["metadata"]["name"] = name;
      CHECK(loop.run(server->core().create(*kind, std::move(object))).has_value());
    }
  }
  ~Place() { loop.run(server->close()); }

  rt::SimLoop loop;
  SeededRng rng;
  plan::Registry registry;
  std::unique_ptr<server::EmbeddedServer> server;
  const server::Kind* kind = nullptr;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Place place;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = split(text, '\n');
  const auto line = [&](std::size_t i) { return std::string(i < lines.size() ? lines[i] : ""); };
  api::ListOptions options{.limit = 2, .continue_token = line(0), .resource_version = line(1)};
  options.where.labels = line(2);
  options.where.fields = line(3);
  const auto page = place.loop.run(place.server->core().list(*place.kind, options));
  CHECK(!page || page->items.size() <= 2);
  if (auto addresses = server::Addresses::create(line(0))) {
    (void)addresses->contains(line(1));
    if (addresses->take(line(1))) CHECK(!addresses->take(line(1)));
    (void)addresses->take_next();
  }
  return 0;
}
