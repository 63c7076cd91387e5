#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace saccade {

/// A JSON document as text, indented by so many spaces (-1: one line). Names of files and what
/// files say may be any bytes: what is no UTF-8 is replaced, so that whoever reads JSON can read
/// it, and what is not ASCII is escaped, so that any terminal may show it.
template <class Json>
std::string json_text(const Json& document, int indent = -1) {
  return document.dump(indent, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

}  // namespace saccade
