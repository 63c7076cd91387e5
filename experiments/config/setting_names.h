#pragma once

#include <optional>
#include <string>
#include <vector>

namespace saccade {

/// The member of `keys` that `key` most likely stands for. Knows other names of settings that are
/// common in the field (`lr`, `epochs`). `keys` is not empty.
std::string nearest_key(const std::string& key, const std::vector<std::string>& keys);

/// The one of `keys` that `word` is another name or the last part of; nothing if there is none.
std::optional<std::string> meant_key(const std::string& word, const std::vector<std::string>& keys);

/// The one of `words` that `word` may be a misspelling of; nothing if none is that similar.
std::optional<std::string> nearest_word(const std::string& word,
                                        const std::vector<std::string>& words);

/// The last two words of a key, which are unique: "glimpse.kind".
std::string short_name(const std::string& key);

}  // namespace saccade
