#include "cli/plane/apology.h"

#include "api/status.h"
#include "json/write.h"

namespace muster::cli {

Task<void> Apology::handle(const net::HttpRequest& /*request*/, net::Responder& responder) {
  [[maybe_unused]] const auto sent =
      co_await responder.respond({.status = 500,
                                  .headers = {{"Content-Type", "application/json"}},
                                  .body = json::write(api::status_of(why_)) + "\n"});
}

}  // namespace muster::cli
