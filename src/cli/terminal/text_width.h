#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::cli {

// How many columns of a terminal the text takes. Colours take none. For text without control
// characters.
std::size_t text_width(std::string_view text);

// How text is cut: characters stay whole, colours end with it.
enum class Ellipsis { Unicode, Ascii };  // … or ...

// At most so many columns; what is too long loses its end, or its middle.
std::string elide_end(std::string_view text, std::size_t columns, Ellipsis ellipsis);
std::string elide_middle(std::string_view text, std::size_t columns, Ellipsis ellipsis);

// For terminals that know nothing else: our bars and dots in the nearest ASCII, other characters
// as ?.
std::string ascii_only(std::string_view text);

}  // namespace muster::cli
