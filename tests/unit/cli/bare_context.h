#pragma once

#include <unistd.h>

#include "cli/context.h"

namespace muster::cli {

// A context for what needs no more of it than its flags. Whatever is printed is thrown away.
struct BareContext {
  struct Nowhere final : Output {
    void write(std::string_view) override {}
    void write_error(std::string_view) override {}
    void flush() override {}
    void on_broken(std::function<void()>) override {}
  };
  rt::RealLoop loop;
  rt::Pool pool{1};
  SystemRng rng;
  plan::Registry registry;
  Nowhere output;
  Context context{.loop = loop,
                  .pool = pool,
                  .rng = rng,
                  .registry = registry,
                  .environment = {},
                  .log = Logger::to_descriptor(STDERR_FILENO, Severity::Warning),
                  .output = output,
                  .home = "/nowhere"};
};

}  // namespace muster::cli
