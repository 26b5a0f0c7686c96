// Any bytes as the file of a run that a home remembers: what cannot be read is passed over.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/history/run_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(
      muster::cli::parse_record(std::string_view(reinterpret_cast<const char*>(data), size)));
  return 0;
}
