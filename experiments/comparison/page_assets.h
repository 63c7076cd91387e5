#pragma once

#include <string_view>

namespace saccade {

// The files of page/, embedded when the program is built (embed.cmake).
std::string_view report_html();  // the page, with {{names}} where text goes
std::string_view report_css();

}  // namespace saccade
