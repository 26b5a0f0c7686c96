#pragma once

#include <cstddef>
#include <cstdint>

// Every bound on what others can make us hold, in one place; parsers, the server and tests use
// these.
namespace muster::limits {

inline constexpr std::size_t kMaxDocumentBytes = std::size_t{3}
                                                 << 20U;  // what the real API server takes
inline constexpr std::size_t kMaxManifestFileBytes = std::size_t{16}
                                                     << 20U;  // several documents in one file
inline constexpr int kMaxDepth = 64;
inline constexpr std::size_t kMaxNodes = 100'000;  // values in one document
inline constexpr std::size_t kMaxAliasNodes =
    1'000;  // nodes that YAML aliases may expand to, per file
inline constexpr std::size_t kMaxDocumentsPerFile = 1'000;

inline constexpr std::size_t kMaxObjectBytes = std::size_t{1536}
                                               << 10U;  // one stored object, as etcd
inline constexpr std::size_t kMaxAnnotationBytes = std::size_t{256} << 10U;

inline constexpr std::size_t kMaxHeaderBytes = std::size_t{32} << 10U;
inline constexpr std::size_t kMaxUriBytes = std::size_t{8} << 10U;
inline constexpr std::size_t kMaxConnections = 1'024;
// A list answer of 10,000 pods of 4 KiB is 40 MB; we page by 500, so 64 MiB is generous.
inline constexpr std::size_t kMaxResponseBytes = std::size_t{64} << 20U;

inline constexpr std::size_t kMaxEventMessageBytes = 1'024;

}  // namespace muster::limits
