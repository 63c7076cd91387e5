#include "experiments/runs/metrics_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "base/error.h"
#include "base/input_file.h"
#include "base/read_text.h"
#include "experiments/runs/run_document.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
using Cells = std::vector<std::string_view>;

constexpr std::size_t kMostRows = 1'000'000, kMostEvaluations = 100'000;

// Returns the text up to the separator and removes both.
std::string_view next_part(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

Cells cells_of(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  Cells cells;
  for (bool more = true; more;) {
    more = line.find(',') != std::string_view::npos;
    cells.push_back(next_part(line, ','));
  }
  return cells;
}

// Returns the number if the cell holds nothing else.
std::optional<double> number_in(std::string_view cell) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

// Calls `row` with the number, the text and the cells of the header, then of each row.
template <class Row>
void for_each_row(std::string_view table, const Row& row) {
  for (std::size_t line = 1; !table.empty(); ++line) {
    const std::string_view text = next_part(table, '\n');
    row(line, text, cells_of(text));
  }
}

// The same for a file of anyone's.
template <class Row>
void for_each_row_of_file(const fs::path& path, const Row& row) {
  for_each_row(read_text(path, kMostMetrics),
               [&](std::size_t line, std::string_view, const Cells& cells) {
                 if (line > kMostRows + 1)
                   throw InputError(fmt::format("{}: more than {} rows; allowed: at most so many",
                                                path.string(), kMostRows));
                 row(line, cells);
               });
}

// Columns of metrics.csv.
std::vector<Metric> columns() {
  std::vector<Metric> columns;
  for (const MetricFacts& facts : kMetrics)
    if ((facts.written & kInMetrics) != 0) columns.push_back(Metric::named(facts.name));
  return columns;
}

// Column positions of a curve in a table.
class CurveColumns {
 public:
  CurveColumns(const fs::path& path, const Cells& header)
      : path_(path),
        count_(header.size()),
        episodes_(find(header, "episodes")),
        seconds_(find(header, "time/elapsed")),
        error_(find(header, "valid/error")) {}

  // Returns nothing for a row without an evaluation.
  std::optional<ValidPoint> point(std::size_t line, const Cells& cells) const {
    if (cells.size() != count_)
      throw InputError(fmt::format("{}: line {} has {} cells; allowed: {}, one a column",
                                   path_.string(), line, cells.size(), count_));
    if (cells[error_].empty()) return std::nullopt;
    return ValidPoint{.episodes = value(line, cells[episodes_], "episodes"),
                      .seconds = value(line, cells[seconds_], "time/elapsed"),
                      .error = value(line, cells[error_], "valid/error")};
  }

 private:
  std::size_t find(const Cells& header, Metric metric) const {
    const auto found = std::ranges::find(header, metric.name());
    if (found == header.end())
      throw InputError(fmt::format("{}: line 1 has no column '{}'", path_.string(), metric.name()));
    return static_cast<std::size_t>(found - header.begin());
  }
  double value(std::size_t line, std::string_view cell, Metric metric) const {
    const std::string where = fmt::format("{}: line {}, '{}'", path_.string(), line, metric.name());
    const std::optional<double> number = number_in(cell);
    if (!number)
      throw InputError(fmt::format("{}: '{}' is not a number", where, cell.substr(0, 40)));
    return checked(metric, *number, where);
  }

  const fs::path& path_;
  std::size_t count_, episodes_, seconds_, error_;
};

}  // namespace

std::string metrics_header() {
  std::vector<std::string> names;
  for (const Metric column : columns()) names.push_back(column.name());
  return fmt::format("{}\n", fmt::join(names, ","));
}

std::string metrics_cell(double value) { return fmt::format("{:.8g}", value); }

double as_written(double value) { return *number_in(metrics_cell(value)); }

namespace {

// Returns the row of a file whose columns are `header` with those of today.
std::string rearranged(const Cells& cells, const Cells& header) {
  std::string row;
  for (const Metric column : columns()) {
    if (column != "episodes") row += ',';
    const auto place =
        static_cast<std::size_t>(std::ranges::find(header, column.name()) - header.begin());
    if (place < cells.size()) row += cells[place];
  }
  return row;
}

}  // namespace

MetricsFile::MetricsFile(const fs::path& path, std::int64_t keep_episodes) {
  std::string kept = metrics_header();
  if (const std::unique_ptr<InputFile> old = InputFile::if_there(path)) {
    const std::string table(std::istreambuf_iterator<char>(*old), {});
    const double most = as_written(static_cast<double>(keep_episodes));
    Cells header;
    // A last line without a line end is incomplete.
    for_each_row(std::string_view(table).substr(0, table.rfind('\n') + 1),
                 [&](std::size_t line, std::string_view, const Cells& cells) {
                   if (line == 1) header = cells;
                   const std::optional<double> episodes = number_in(cells[0]);
                   if (line == 1 || !episodes || *episodes > most) return;
                   kept += rearranged(cells, header) + '\n';
                   elapsed_ = number_in(cells.back()).value_or(0.0);
                 });
  }
  replace_text(path, kept);
  file_ = AppendedFile(path);
}

void MetricsFile::append(const MetricsRow& row) {
  for (const auto& [metric, value] : row)
    if (!metric.is_written(kInMetrics))
      throw std::logic_error(metric.name() + " is not written in metrics.csv");
  std::string line;
  for (const Metric column : columns()) {
    const auto found = row.find(column);
    if (column != "episodes") line += ',';
    if (found != row.end()) line += metrics_cell(found->second);
  }
  file_.append(line + "\n");
}

std::vector<MetricsRow> read_metrics(const fs::path& path) {
  std::vector<MetricsRow> rows;
  if (!fs::exists(path)) return rows;
  std::vector<std::optional<Metric>> columns;
  for_each_row_of_file(path, [&](std::size_t line, const Cells& cells) {
    if (line == 1) {
      for (const std::string_view name : cells)
        columns.push_back(Metric::exists(name) ? std::optional(Metric::named(name)) : std::nullopt);
      return;
    }
    MetricsRow& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(columns.size(), cells.size()); ++i)
      if (const auto value = columns[i] ? number_in(cells[i]) : std::nullopt)
        row[*columns[i]] = *value;
  });
  return rows;
}

std::vector<ValidPoint> read_curve(const fs::path& path) {
  std::vector<ValidPoint> curve;
  std::optional<CurveColumns> columns;
  for_each_row_of_file(path, [&](std::size_t line, const Cells& cells) {
    if (!columns) {
      columns.emplace(path, cells);
      return;
    }
    const std::optional<ValidPoint> point = columns->point(line, cells);
    if (point) curve.push_back(*point);
    if (curve.size() > kMostEvaluations)
      throw InputError(
          fmt::format("{}: more than {} evaluations", path.string(), kMostEvaluations));
  });
  if (!columns) throw InputError(fmt::format("{}: is empty", path.string()));
  return curve;
}

}  // namespace saccade
