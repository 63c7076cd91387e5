#pragma once

#include "experiments/comparison/chart.h"
#include "experiments/comparison/drawing.h"

namespace saccade {

/// The sheet a chart is drawn on, in pixels of a page.
struct Sheet {
  double width = 640.0;  // the height follows from the chart
  double margin = 2.0;
  bool titled = false;  // whether the title is drawn above the chart
};

/// Draws a chart as shapes. Points that are not finite are left out.
Drawing draw_chart(const Chart& chart, const Sheet& sheet);

/// Returns where the point (x, y), in axis units, is drawn. Rows of matrices and of `rows` charts
/// go downwards.
Place place_of(const Chart& chart, const Rectangle& plot, double x, double y);

}  // namespace saccade
