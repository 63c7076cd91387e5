#pragma once

#include <string_view>

namespace saccade {

// The files of page/ and Chart.js, embedded when the program is built (embed.cmake).
std::string_view report_html();  // the page, with {{names}} where text goes
std::string_view report_css();
std::string_view report_js();
std::string_view chart_js();

}  // namespace saccade
