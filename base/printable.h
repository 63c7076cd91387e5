#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace saccade {

/// Whether the text is UTF-8 (RFC 3629): no overlong forms, no surrogates.
bool is_utf8(std::string_view text);

/// The text as a terminal may show it whoever wrote it: what is no UTF-8, control characters but
/// tabs and ends of lines, and what turns the direction of writing stand as their bytes, `\x1b`.
std::string printable(std::string_view text);

/// The text, if it has at most `most` bytes; else its beginning and its end with its length between
/// them: "aaaa... (1000000 characters) ...aaaa". For what somebody gave, in messages.
std::string abridged(std::string_view text, std::size_t most = 200);

/// A whole message, as it is printed: with room for several paths, of which each may have 4095
/// bytes.
std::string abridged_message(std::string_view text);

}  // namespace saccade
