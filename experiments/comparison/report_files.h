#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "experiments/comparison/drawing.h"
#include "experiments/comparison/report_page.h"

namespace saccade {

/// The files that write_report() writes, in its order: report.html, then charts/<id>.png for each
/// chart.
std::vector<std::filesystem::path> report_files(const std::filesystem::path& folder,
                                                const std::vector<Chart>& charts);

/// Writes them, in that order, over what is there, into folders that are there. Throws
/// std::runtime_error naming what cannot be written.
void write_report(const std::vector<std::filesystem::path>& files, const Comparison& comparison,
                  const std::vector<Chart>& charts,
                  const std::optional<EmbeddedRecording>& recording);

// A chart for papers: on white, 1600 pixels wide (matrices 1200), as high as it needs.
inline constexpr double kPaperScale = 2.5;
Drawing paper_drawing(const Chart& chart);
Picture chart_picture(const Chart& chart);

}  // namespace saccade
