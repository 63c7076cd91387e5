#include "experiments/comparison/report_files.h"

#include "base/output.h"
#include "experiments/comparison/chart_drawing.h"
#include "experiments/comparison/drawing_picture.h"

namespace saccade {

namespace fs = std::filesystem;

std::vector<fs::path> report_files(const fs::path& folder, const std::vector<Chart>& charts) {
  std::vector<fs::path> files = {folder / "report.html"};
  for (const Chart& chart : charts) files.push_back(folder / "charts" / (chart.id + ".png"));
  return files;
}

void write_report(const std::vector<fs::path>& files, const Comparison& comparison,
                  const std::vector<Chart>& charts,
                  const std::optional<EmbeddedRecording>& recording) {
  write_text(files[0], report_page(comparison, charts, recording));
  for (std::size_t i = 0; i < charts.size(); ++i)
    write_text(files[i + 1], to_png(chart_picture(charts[i])));
}

Drawing paper_drawing(const Chart& chart) {
  return draw_chart(chart,
                    {.width = is_matrix(chart) ? 480.0 : 640.0, .margin = 16.0, .titled = true});
}

Picture chart_picture(const Chart& chart) { return picture_of(paper_drawing(chart), kPaperScale); }

}  // namespace saccade
