#pragma once

#include "experiments/comparison/drawing.h"

namespace saccade {

/// A drawing as an SVG element inside a page. Its colours are those of the classes `name_of(paint)`
/// there; it is as wide as there is room. Spots tell their text, and switches are check boxes with
/// the class of their variant: report.css hides and shows by them. `words` say what is drawn, for
/// who does not see it.
std::string svg_of(const Drawing& drawing, const std::string& words);

/// The style sheet that svg_of() takes for granted: the colours of the roles, as on paper, in
/// variables that a page may set anew (--ink, ...), those of so many variants (class v0, v1, ...,
/// variable --colour), and what switches do.
std::string style_of_drawings(int variants);

}  // namespace saccade
