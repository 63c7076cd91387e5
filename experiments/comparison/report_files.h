#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "experiments/comparison/drawing.h"
#include "experiments/comparison/report_page.h"

namespace saccade {

/// Returns the files that write_report() writes, in order: report.html, then charts/<id>.png for
/// each chart.
std::vector<std::filesystem::path> report_files(const std::filesystem::path& folder,
                                                const std::vector<Chart>& charts);

/// Writes these files in that order into existing folders, overwriting existing files. Throws
/// std::runtime_error naming a file that cannot be written.
void write_report(const std::vector<std::filesystem::path>& files, const Comparison& comparison,
                  const std::vector<Chart>& charts,
                  const std::optional<EmbeddedRecording>& recording);

// Charts for papers: on white, 1600 pixels wide (matrices 1200), as high as needed.
inline constexpr double kPaperScale = 2.5;
Drawing paper_drawing(const Chart& chart);
Picture chart_picture(const Chart& chart);

}  // namespace saccade
