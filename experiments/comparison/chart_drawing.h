#pragma once

#include "experiments/comparison/chart.h"
#include "experiments/comparison/drawing.h"

namespace saccade {

/// What a chart is drawn on, in pixels of a page.
struct Sheet {
  double width = 640.0;  // the height is what the chart needs
  double margin = 2.0;
  bool titled = false;  // whether the chart's title is drawn above it
};

/// A chart as shapes. Points that are not finite are left out.
Drawing draw_chart(const Chart& chart, const Sheet& sheet);

/// Where the point (x, y), in the units of the axes, is. Rows of matrices and of `rows` go down.
Place place_of(const Chart& chart, const Rectangle& plot, double x, double y);

}  // namespace saccade
