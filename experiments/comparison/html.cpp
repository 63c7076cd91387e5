#include "experiments/comparison/html.h"

#include <cstdint>
#include <stdexcept>

#include "base/printable.h"

namespace saccade {
namespace {

// `attributes(i)` returns the attributes of the cells of column i.
template <class Attributes>
std::string table_html(const Cells& header, const std::vector<Cells>& rows, std::string_view style,
                       const Attributes& attributes) {
  std::string html =
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table class=\"";
  html.append(style).append("\">\n<thead><tr>");
  for (const std::string& cell : header) html += "<th scope=\"col\">" + cell + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const Cells& row : rows) {
    html += "<tr><th scope=\"row\">" + row.front() + "</th>";
    for (std::size_t i = 1; i < row.size(); ++i)
      html += "<td" + attributes(i) + ">" + row[i] + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  return escaped;
}

std::string html_table(const Cells& header, const std::vector<Cells>& rows,
                       std::string_view style) {
  return table_html(header, rows, style, [](std::size_t) { return std::string(); });
}

std::string labelled_table(const Cells& header, const std::vector<Cells>& rows,
                           std::string_view style) {
  return table_html(header, rows, style,
                    [&](std::size_t i) { return " data-title=\"" + header[i] + "\""; });
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;  // 24 bits
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

std::string filled(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string result;
  for (;;) {
    const std::size_t open = text.find("{{"), close = text.find("}}", open);
    if (close == std::string_view::npos) return result.append(text);
    const std::string name(text.substr(open + 2, close - open - 2));
    const auto value = values.find(name);
    if (value == values.end()) throw std::logic_error("no value for {{" + name + "}}");
    result.append(text.substr(0, open)).append(value->second);
    text.remove_prefix(close + 2);
  }
}

}  // namespace saccade
