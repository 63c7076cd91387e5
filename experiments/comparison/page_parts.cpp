#include "experiments/comparison/page_parts.h"

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/comparison/chart_drawing.h"
#include "experiments/comparison/chart_numbers.h"
#include "experiments/comparison/drawing_svg.h"
#include "experiments/comparison/html.h"

namespace saccade {
namespace {

/// Emits a wide and a narrow drawing; the style shows the one that fits, so that letters stay
/// readable.
std::string drawings(const Chart& chart) {
  constexpr Sheet kMatrix{.width = 400.0}, kRows{.width = 800.0}, kWide{.width = 600.0};
  constexpr Sheet kNarrow{.width = 360.0};
  if (is_matrix(chart)) return svg_of(draw_chart(chart, kMatrix), chart.text);
  const Sheet& wide = chart.kind == ChartKind::rows ? kRows : kWide;
  return svg_of(draw_chart(chart, wide), chart.text) +
         svg_of(draw_chart(chart, kNarrow), chart.text);
}

}  // namespace

std::string section(const std::string& title, const std::string& html) {
  if (html.empty()) return "";
  return "<section>\n<h2>" + title + "</h2>\n" + html + "</section>\n";
}

std::string figures(const std::vector<Chart>& charts,
                    const std::function<bool(const Chart&)>& belongs) {
  std::string html;
  for (const Chart& chart : charts) {
    if (!belongs(chart)) continue;
    html += fmt::format(
        "<figure id=\"{}\"><figcaption>{}</figcaption>\n<div class=\"plot\">\n{}</div>\n"
        "<details><summary>In words and numbers</summary><p>{}</p>\n{}</details></figure>\n",
        html_escaped(chart.id), html_escaped(chart.title), drawings(chart),
        html_escaped(chart.text), numbers_table(chart));
  }
  return html;
}

std::string recording_figure(const ShownRecording& recording) {
  const bool is_video = recording.media_type.starts_with("video/");
  if (!is_video && !recording.media_type.starts_with("image/"))
    throw InputError(fmt::format("recording '{}': media type '{}' is none of image/..., video/...",
                                 recording.title, recording.media_type));
  const std::string title = html_escaped(recording.title);
  const std::string source = html_escaped(recording.source);
  const std::string media = is_video
                                ? fmt::format(
                                      "<video controls loop muted playsinline aria-label=\"{}\" "
                                      "src=\"{}\"></video>\n",
                                      title, source)
                                : fmt::format("<img alt=\"{}\" src=\"{}\">\n", title, source);
  return fmt::format(
      "<figure class=\"recording\"{}><figcaption>{}</figcaption>\n{}"
      "<p class=\"on-paper\">The recording plays on the screen.</p>"
      "</figure>\n",
      is_video && recording.rows > 0
          ? fmt::format(" style=\"--rows: {}; --cols: {}\"", recording.rows, recording.cols)
          : "",
      title, media);
}

}  // namespace saccade
