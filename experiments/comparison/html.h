#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace saccade {

/// Text as it goes between tags and into quoted attributes.
std::string html_escaped(std::string_view text);

using Cells = std::vector<std::string>;  // HTML
/// A table of class `style` that scrolls where it is too wide; the first cell of a row is its
/// heading.
std::string html_table(const Cells& header, const std::vector<Cells>& rows, std::string_view style);
/// The same, each cell with the title of its column, for where there is no room beside each other.
/// The header is without tags.
std::string labelled_table(const Cells& header, const std::vector<Cells>& rows,
                           std::string_view style);

std::string base64(std::string_view bytes);

/// `text` with each {{name}} replaced, once: what is put in is not looked at again. Throws
/// std::logic_error for a name that has no value.
std::string filled(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace saccade
