#include "python/bindings/words.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace saccade::python {
namespace {

constexpr std::string_view kFlags[] = {"force", "json", "resume", "strict", "unrolled"};

// Phrases that need another wording in Python.
constexpr std::pair<std::string_view, std::string_view> kPhrases[] = {
    {"--out names another file", "another path keeps it"},
    {"--out DIR chooses another folder", "out= names another folder"},
    {"`saccade run`", "saccade.train"},
};
constexpr std::string_view kDownload = "`saccade data ";

bool in_name(char c) { return std::islower(static_cast<unsigned char>(c)) != 0 || c == '-'; }

std::size_t length_while(std::string_view text, auto holds) {
  return std::ranges::find_if_not(text, holds) - text.begin();
}

// Removes the option at the beginning of `text` and returns its Python form.
std::string take_option(std::string_view& text) {
  text.remove_prefix(2);
  const std::size_t length = length_while(text, in_name);
  std::string name(text.substr(0, length));
  std::ranges::replace(name, '-', '_');
  text.remove_prefix(length);
  if (text.starts_with(':')) return name;
  if (std::ranges::find(kFlags, name) != std::end(kFlags)) return name + "=True";
  if (!text.starts_with(' ')) return name + "=";
  const std::string_view value =
      text.substr(1, length_while(text.substr(1), [](char c) { return c != ' ' && c != '\n'; }));
  if (value.size() > 1 && value.ends_with(':')) {
    text.remove_prefix(1 + value.size());
    constexpr std::string_view kAllowed = " allowed: ";
    const std::string_view allowed = value.substr(0, value.size() - 1);
    if (text.starts_with(kAllowed)) return name + ": " + std::string(allowed) + ";";
    return name + "=" + std::string(value);
  }
  const std::size_t letters =
      length_while(value, [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; });
  if (letters > 1 && (letters == value.size() || std::ispunct(value[letters]) != 0)) {
    text.remove_prefix(1 + letters);
    return name + "=" + std::string(value.substr(0, letters));
  }
  return name + "=";
}

}  // namespace

std::string in_python(std::string_view text) {
  std::string words;
  while (!text.empty()) {
    const auto phrase = std::ranges::find_if(
        kPhrases, [&](const auto& pair) { return text.starts_with(pair.first); });
    if (phrase != std::end(kPhrases)) {
      words += phrase->second;
      text.remove_prefix(phrase->first.size());
      continue;
    }
    if (text.starts_with(kDownload)) {
      const std::string_view rest = text.substr(kDownload.size());
      const std::size_t end = length_while(rest, [](char c) { return c != '`'; });
      words += "saccade.data.download(\"" + std::string(rest.substr(0, end)) + "\")";
      text.remove_prefix(std::min(text.size(), kDownload.size() + end + 1));
      continue;
    }
    const bool begins = words.empty() || words.back() == ' ' || words.back() == '(' ||
                        words.back() == '\n' || words.back() == '\'';
    if (begins && text.size() > 2 && text.starts_with("--") &&
        std::islower(static_cast<unsigned char>(text[2])) != 0) {
      words += take_option(text);
      continue;
    }
    words += text.front();
    text.remove_prefix(1);
  }
  return words;
}

}  // namespace saccade::python
