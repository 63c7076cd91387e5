#pragma once

#include <string_view>

namespace saccade {

// The files of page/, embedded at build time (comparison/page/embed.cmake).
std::string_view watch_html();    // the page, with {{names}} as placeholders
std::string_view watch_css();     // beside report.css
std::string_view watch_script();  // watch.js

}  // namespace saccade
