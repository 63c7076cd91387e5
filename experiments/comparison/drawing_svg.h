#pragma once

#include "experiments/comparison/drawing.h"

namespace saccade {

/// Returns a drawing as an SVG element for a page. Its colours come from the classes
/// `name_of(paint)` of that page; it fills the available width. Spots become tooltips, and switches
/// become check boxes with the class of their variant, which report.css uses to hide and show.
/// `words` is the text alternative.
std::string svg_of(const Drawing& drawing, const std::string& words);

/// Returns the style sheet that svg_of() requires: the colours of the roles, as in print, as
/// variables that a page may override (--ink, ...); those of the variants (class v0, v1, ...,
/// variable --colour); and the behaviour of switches.
std::string style_of_drawings(int variants);

}  // namespace saccade
