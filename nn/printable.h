#pragma once

#include <string>
#include <string_view>

namespace saccade {

/// Whether the text is UTF-8 (RFC 3629): no overlong forms, no surrogates.
bool is_utf8(std::string_view text);

/// The text as a terminal may show it whoever wrote it: what is no UTF-8, control characters but
/// tabs and ends of lines, and what turns the direction of writing stand as their bytes, `\x1b`.
std::string printable(std::string_view text);

}  // namespace saccade
