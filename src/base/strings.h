#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// The whole text as a decimal number, or nothing.
std::optional<std::int64_t> parse_int(std::string_view text);

// Percent-encoding of a URL path segment or query value, and back (nothing on a bad escape).
std::string percent_encode(std::string_view text);
std::optional<std::string> percent_decode(std::string_view text);

std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);

// True when every byte sequence is well-formed UTF-8 (no surrogates, no overlong forms).
bool is_utf8(std::string_view text);

// Control characters (C0, C1, DEL, escape sequences) replaced, so that text is safe on a terminal.
std::string printable(std::string_view text);
// The same, cut at a character so that it has no more bytes than that; "…" shows where.
std::string shortened(std::string_view text, std::size_t most_bytes);

// FNV-1a; stable across runs and machines.
std::uint64_t stable_hash(std::string_view text);

}  // namespace muster
