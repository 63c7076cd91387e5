#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace saccade {

/// Escapes text for use between tags and in quoted attributes.
std::string html_escaped(std::string_view text);

using Cells = std::vector<std::string>;  // HTML
/// Returns a table of class `style` that scrolls if it is too wide; the first cell of a row is its
/// heading.
std::string html_table(const Cells& header, const std::vector<Cells>& rows, std::string_view style);
/// The same with the column title in each cell, for narrow screens where cells are stacked. The
/// header must not contain tags.
std::string labelled_table(const Cells& header, const std::vector<Cells>& rows,
                           std::string_view style);

std::string base64(std::string_view bytes);

/// Returns `text` with each {{name}} replaced once; inserted text is not expanded again. Throws
/// std::logic_error for a name without a value.
std::string filled(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace saccade
