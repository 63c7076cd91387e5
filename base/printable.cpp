#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace saccade {
namespace {

struct Character {
  std::uint32_t code;
  std::size_t bytes;
};

// Returns the first character of a text that is not empty; nullopt if it is not valid UTF-8.
std::optional<Character> first_character(std::string_view text) {
  const auto byte = [&](std::size_t n) { return static_cast<std::uint8_t>(text[n]); };
  if (byte(0) < 0x80) return Character{byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < bytes) return std::nullopt;
  std::uint32_t code = byte(0) & (0x7FU >> bytes);
  for (std::size_t n = 1; n < bytes; ++n) {
    if ((byte(n) & 0xC0) != 0x80) return std::nullopt;
    code = code << 6 | (byte(n) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
    return std::nullopt;
  return Character{code, bytes};
}

bool is_harmless(std::uint32_t code) {
  const bool is_control =
      (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code <= 0x9F);
  const bool turns = code == 0x061C || code == 0x200E || code == 0x200F ||
                     (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return !is_control && !turns;
}

// Returns where the character that contains `byte` begins. Invalid UTF-8 may be cut anywhere.
std::size_t character_at(std::string_view text, std::size_t byte) {
  constexpr std::size_t kMostBytes = 4;
  for (std::size_t back = 0; back < kMostBytes && back <= byte; ++back)
    if ((static_cast<std::uint8_t>(text[byte - back]) & 0xC0) != 0x80) return byte - back;
  return byte;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::optional<Character> character = first_character(text);
    if (!character) return false;
    text.remove_prefix(character->bytes);
  }
  return true;
}

std::string abridged(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const std::size_t characters = static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<std::uint8_t>(c) & 0xC0) != 0x80; }));
  const std::string_view begin = text.substr(0, character_at(text, most - most / 4));
  const std::string_view end = text.substr(character_at(text, text.size() - most / 4));
  return fmt::format("{}... ({} characters) ...{}", begin, characters, end);
}

std::string abridged_message(std::string_view text) {
  constexpr std::size_t kMost = 10'000;
  return abridged(text, kMost);
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::optional<Character> character = first_character(text);
    const std::string_view bytes = text.substr(0, character ? character->bytes : 1);
    if (character && is_harmless(character->code))
      shown += bytes;
    else
      for (const char byte : bytes)
        shown += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(byte));
    text.remove_prefix(bytes.size());
  }
  return shown;
}

std::string shell_word(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + '\'';
}

}  // namespace saccade
