#include "experiments/training/finished.h"

#include <fmt/format.h>

#include <optional>

#include "agent/learning/checkpoint.h"
#include "base/error.h"
#include "experiments/evaluation/test_report.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/run_document.h"
#include "experiments/runs/trained.h"

namespace saccade {
namespace {

void require_same(const RunFolder& folder, const Config& there, const Config& config) {
  const std::vector<Difference> changed = differences(there, config);
  if (changed.empty()) return;
  throw InputError(
      fmt::format("{}: has a finished run with another configuration: {}: {} there, {} "
                  "now; another name or --out keeps both",
                  folder.path().string(), changed[0].key, changed[0].first, changed[0].second));
}

std::optional<double> number_of(const RunDocument& summary, Metric metric) {
  if (!summary.has_number(metric)) return std::nullopt;
  return summary.number(metric);
}

}  // namespace

bool is_done(const RunFolder& folder, const Config& config) {
  if (!is_finished(folder) || folder.has_lost()) return false;
  const Config there = read_config(folder.path() / "config.yaml");
  if (is_longer(config, there)) return false;
  require_same(folder, there, config);
  return true;
}

std::string table_of_finished(const RunFolder& folder, const Config& config) {
  const RunDocument summary(folder.summary(), kMostFacts);
  TestTable table{.scenes = static_cast<int>(number_of(summary, "test/scenes").value_or(0)),
                  .images = static_cast<int>(number_of(summary, "test/images").value_or(0)),
                  .acts = summary.has_number("test/earned"),
                  .spells = summary.has_number("test/symbol_error"),
                  .looks = summary.has_number("attention/on_target"),
                  .lines = {},
                  .on_answer = number_of(summary, "attention/on_answer")};
  for (const Metric pass : kPasses) {
    const std::optional<double> error = number_of(summary, pass);
    if (!error) continue;
    TestTable::Line& line = table.lines.emplace_back(
        TestTable::Line{.label = label_of(pass, config.evaluation),
                        .error = *error,
                        .low = number_of(summary, pass.low()).value_or(*error),
                        .high = number_of(summary, pass.high()).value_or(*error)});
    if (pass == "test/error") {
      line.symbol_error = number_of(summary, "test/symbol_error");
      line.on_target = number_of(summary, "attention/on_target");
    }
    if (pass == "test/error_beam") line.symbol_error = number_of(summary, "test/symbol_error_beam");
    if (pass == "test/error_random")
      line.on_target = number_of(summary, "attention/on_target_random");
  }
  if (const auto threshold = number_of(summary, "test/stop_threshold")) {
    const auto value = [&](Metric metric) { return number_of(summary, metric).value_or(0.0); };
    table.stopped = {
        *threshold,
        {.error = {value("test/stopped_error"), value("test/stopped_error_low"),
                   value("test/stopped_error_high")},
         .looks = {value("test/looks"), value("test/looks_low"), value("test/looks_high")}}};
  }
  if (const Metric zooms = "attention/zoom_by_glimpse"; summary.has(zooms.name()))
    table.zooms =
        summary.numbers(zooms, {1, static_cast<std::size_t>(config.agent.glimpse.num_glimpses)});
  return to_text(table);
}

void restore_lost_files(const RunFolder& folder, const Config& config, const std::string& command,
                        int ranks, int threads) {
  if (!folder.has_lost()) return;
  const std::filesystem::path path = find_checkpoint(folder.path());
  const Checkpoint checkpoint(path);
  const Config there = parse_config(checkpoint.config_yaml(), path.string());
  if (is_longer(config, there)) return;
  require_same(folder, there, config);
  folder.restore_words(config, command, meta_json(ranks, threads, data_checksums(checkpoint)));
}

}  // namespace saccade
