#include "experiments/comparison/chart_numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "experiments/comparison/html.h"

namespace saccade {
namespace {

std::string figure(double value) { return short_number(value, 4); }

std::string matrix_table(const Chart& chart) {
  const ChartMatrix& matrix = chart.matrix;
  const auto name = [&](int i) {
    return matrix.names.empty() ? std::to_string(i) : html_escaped(matrix.names[i]);
  };
  Cells header = {html_escaped(fmt::format("{} \\ {}", chart.y.title, chart.x.title))};
  for (int col = 0; col < matrix.cols; ++col) header.push_back(name(col));
  std::vector<Cells> rows;
  for (int row = 0; row < matrix.rows; ++row) {
    rows.push_back({name(row)});
    for (int col = 0; col < matrix.cols; ++col)
      rows.back().push_back(figure(matrix.values[row * matrix.cols + col]));
  }
  return html_table(header, rows, "numbers");
}

}  // namespace

std::string numbers_table(const Chart& chart) {
  if (is_matrix(chart)) return matrix_table(chart);
  const bool is_rows = chart.kind == ChartKind::rows;
  const bool has_runs =
      std::ranges::any_of(chart.series, [](const Series& series) { return !series.runs.empty(); });
  const std::string x = html_escaped(chart.x.title), y = html_escaped(chart.y.title);
  Cells header = is_rows ? Cells{"", x, "low", "high"} : Cells{"", x, y, "low", "high"};
  if (is_rows || has_runs) header.push_back("single runs");
  std::vector<Cells> rows;
  for (const Series& series : chart.series)
    for (std::size_t i = 0; i < series.estimates.size(); ++i) {
      const Estimate& estimate = series.estimates[i];
      Cells& row = rows.emplace_back(Cells{html_escaped(series.name)});
      if (!is_rows) row.push_back(told_on(chart.x, series.x[i]));
      row.push_back(figure(estimate.value));
      row.push_back(estimate.known ? figure(estimate.low) : "–");
      row.push_back(estimate.known ? figure(estimate.high) : "–");
      if (!is_rows && !has_runs) continue;
      Cells singles;
      std::ranges::transform(series.singles, std::back_inserter(singles), figure);
      for (const std::vector<double>& run : series.runs) singles.push_back(figure(run[i]));
      row.push_back(fmt::format("{}", fmt::join(singles, ", ")));
    }
  return html_table(header, rows, "numbers");
}

}  // namespace saccade
