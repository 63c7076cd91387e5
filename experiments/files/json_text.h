#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace saccade {

/// Returns a JSON document as text, indented by `indent` spaces (-1: one line). File names and file
/// contents may be arbitrary bytes: invalid UTF-8 is replaced so that every parser accepts it, and
/// non-ASCII is escaped so that every terminal can show it.
template <class Json>
std::string json_text(const Json& document, int indent = -1) {
  return document.dump(indent, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

}  // namespace saccade
