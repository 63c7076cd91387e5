#pragma once

#include <string_view>

namespace saccade {

// The files of page/, embedded at build time (embed.cmake).
std::string_view report_html();  // the page, with {{names}} as placeholders
std::string_view report_css();

}  // namespace saccade
