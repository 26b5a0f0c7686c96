#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "trainer/error.h"

namespace muster::trainer {

// What write_atomically() adds to a name while the file is being written.
inline constexpr std::string_view kPartialSuffix = ".partial";

// After this returns, `path` holds `bytes` even if the machine stops; until then it holds what it
// held before. Readers never see a part. One writer at a time for each path.
[[nodiscard]] Result<void> write_atomically(const std::filesystem::path& path,
                                            std::string_view bytes);

// The whole file, unless it is larger than `most`.
[[nodiscard]] Result<std::string> read_whole(const std::filesystem::path& path, std::size_t most);

}  // namespace muster::trainer
