#pragma once

#include <optional>
#include <string>
#include <vector>

namespace saccade {

/// The member of `keys` that `key` most likely stands for; what people of this field call a setting
/// (`lr`, `epochs`) is known. `keys` is not empty.
std::string nearest_key(const std::string& key, const std::vector<std::string>& keys);

/// The one of `keys` that a word is another name of, or the end of; nothing where it is none.
std::optional<std::string> meant_key(const std::string& word, const std::vector<std::string>& keys);

/// The one of `words` that differs in so few letters that it may be meant; nothing where none does.
std::optional<std::string> nearest_word(const std::string& word,
                                        const std::vector<std::string>& words);

/// The last two words of a key, which no other has: "glimpse.kind".
std::string short_name(const std::string& key);

}  // namespace saccade
