#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace saccade {

/// Whether the text is UTF-8 (RFC 3629): no overlong forms, no surrogates.
bool is_utf8(std::string_view text);

/// Makes untrusted text safe to print on a terminal: escapes as `\x1b` the bytes of invalid UTF-8,
/// of control characters except tabs and line ends, and of characters that change the writing
/// direction.
std::string printable(std::string_view text);

/// Returns a word, quoted if a shell requires it.
std::string shell_word(const std::string& word);

/// Returns the text unchanged if it has at most `most` bytes; otherwise its beginning and end with
/// its length between them: "aaaa... (1000000 characters) ...aaaa". For user input in messages.
std::string abridged(std::string_view text, std::size_t most = 200);

/// The same for a whole message, with room for several paths of up to 4095 bytes each.
std::string abridged_message(std::string_view text);

}  // namespace saccade
