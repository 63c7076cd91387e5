#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/error.h"
#include "experiments/commands/compare.h"
#include "experiments/commands/eval.h"
#include "experiments/commands/export.h"
#include "experiments/commands/gradients.h"
#include "experiments/commands/record.h"
#include "experiments/comparison/gather.h"
#include "experiments/comparison/tables.h"
#include "experiments/config/config_table.h"
#include "experiments/config/preset.h"
#include "experiments/config/study_run.h"
#include "experiments/files/shipped.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/study.h"
#include "experiments/runs/trained.h"
#include "python/bindings/calls.h"
#include "python/bindings/module.h"
#include "python/bindings/runs.h"

namespace saccade::python {

namespace nb = nanobind;
namespace fs = std::filesystem;
using namespace nb::literals;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Converts a setting's value to Python.
struct ToPython {
  nb::object operator()(const std::string* field) const {
    return field->empty() ? nb::none() : nb::object(nb::cast(*field));
  }
  nb::object operator()(const std::array<int, 2>* field) const {
    nb::list sides;
    for (const int side : *field) sides.append(side);
    return sides;
  }
  nb::object operator()(const std::vector<double>* field) const {
    if (field->size() == 1) return nb::cast(field->front());
    nb::list numbers;
    for (const double number : *field) numbers.append(number);
    return numbers;
  }
  nb::object operator()(const Ramp* field) const {
    if (field->from == field->to && field->over == 1.0) return nb::cast(field->from);
    nb::dict ramp;
    ramp["from"] = field->from;
    ramp["to"] = field->to;
    ramp["over"] = field->over;
    return ramp;
  }
  nb::object operator()(const auto* field) const { return nb::cast(*field); }
};

std::vector<std::pair<std::string, nb::object>> config_items(const fs::path& path) {
  Config config = read_config(path);
  std::vector<std::pair<std::string, nb::object>> items;
  for (const Setting& setting : settings(config))
    items.emplace_back(setting.key, std::visit(ToPython{}, setting.field));
  return items;
}

// Returns the settings of a file that differ from the defaults, as YAML; the values it varies are
// left out.
std::map<std::string, std::string> changed_settings(const fs::path& path) {
  const Config said = parse_study_run(read_config_text(path), path.string(), {}, {});
  std::map<std::string, std::string> changed;
  for (const Difference& difference : differences(Config{}, said))
    changed[difference.key] = difference.second;
  return changed;
}

// `episodes` is an integer.
nb::object value_of(Metric metric, double value) {
  return metric == "episodes" ? nb::cast(static_cast<std::int64_t>(value)) : nb::cast(value);
}

// Returns the columns of metrics.csv that have any values.
nb::dict metrics_columns(const fs::path& path) {
  const std::vector<MetricsRow> rows = read_metrics(path);
  nb::dict columns;
  for (const MetricFacts& facts : kMetrics) {
    const Metric metric = Metric::named(facts.name);
    if (std::ranges::none_of(rows, [&](const MetricsRow& row) { return row.contains(metric); }))
      continue;
    nb::list column;
    for (const MetricsRow& row : rows)
      column.append(row.contains(metric) ? value_of(metric, row.at(metric)) : nb::cast(kNone));
    columns[metric.name().c_str()] = column;
  }
  return columns;
}

void require_some(const std::vector<fs::path>& folders) {
  if (folders.empty()) throw InputError("folders: none; allowed: one and more");
}

// Returns the result of a command, computed while other Python threads run.
template <class Work>
std::string computed(const Work& work) {
  require_threads();
  std::string text;
  compute_until_stopped([&] { text = work(); });
  return text;
}

}  // namespace

nb::dict to_python(const MetricsRow& row) {
  nb::dict values;
  for (const MetricFacts& facts : kMetrics) {
    const Metric metric = Metric::named(facts.name);
    if (const auto found = row.find(metric); found != row.end())
      values[metric.name().c_str()] = value_of(metric, found->second);
  }
  return values;
}

void require_allowed(const Command& command, const std::string& option, std::optional<int> value) {
  const auto found = std::ranges::find(command.options, option, &Option::name);
  const Range range = std::get<Range>(found->bound);
  if (value && (*value < range.least || *value > range.most))
    throw InputError(fmt::format("{}: {}; allowed: {} to {}", option.substr(2), *value, range.least,
                                 range.most));
}

void require_allowed_threads(int threads) {
  if (threads != 0) require_allowed(run_command(), "--threads", threads);
}

void bind_runs(nb::module_& m) {
  m.def("set_shipped_root", &set_shipped_root, "root"_a, "Where the package is.");
  m.def("shipped_agents", &shipped_agents, "The names of the trained agents of the package.");
  m.def("setting_keys", &setting_keys, "Every key of a configuration.");
  m.def("config_items", &config_items, "path"_a, "Every key of a file and its value.");
  m.def("changed_settings", &changed_settings, "path"_a,
        "The settings in which a file differs from the defaults, as YAML.");
  m.def("metrics_columns", &metrics_columns, "path"_a,
        "The columns of a metrics.csv that have any value; what is not in a row is NaN.");
  m.def(
      "is_finished", [](const fs::path& folder) { return is_finished(RunFolder(folder)); },
      "folder"_a);
  m.def("find_runs", &find_runs, "folder"_a, "The run folders at or below a folder.");
  m.def(
      "evaluate",
      [](const fs::path& folder, std::optional<int> episodes, std::optional<int> draws,
         int threads) {
        require_allowed(eval_command(), "--episodes", episodes);
        require_allowed(eval_command(), "--draws", draws);
        require_allowed_threads(threads);
        return computed([&] {
          return eval({.run_folder = folder,
                       .scenes = episodes.value_or(0),
                       .draws = draws.value_or(0),
                       .json = true,
                       .threads = threads});
        });
      },
      "folder"_a, "episodes"_a.none(), "draws"_a.none(), "threads"_a, "`saccade eval --json`");
  m.def(
      "compare",
      [](std::vector<fs::path> folders, const std::string& tuned_by,
         const std::optional<fs::path>& out, bool force, const std::string& command) {
        require_some(folders);
        const CompareOptions options{.folders = std::move(folders),
                                     .out = out.value_or(fs::path()),
                                     .tuned_by = tuned_by,
                                     .json = true,
                                     .force = force,
                                     .command = command};
        std::string json = computed([&] { return compare(options); });
        return std::pair(std::move(json), report_of(options));
      },
      "folders"_a, "tuned_by"_a, "out"_a.none(), "force"_a, "command"_a,
      "`saccade compare --json`, and its report.");
  m.def(
      "comparison",
      [](const std::vector<fs::path>& folders, const std::vector<std::string>& tuned_by) {
        require_some(folders);
        return computed([&] { return to_json(gather(folders, tuned_by)); });
      },
      "folders"_a, "tuned_by"_a, "The same document without any file.");
  m.def(
      "gradients",
      [](const fs::path& folder, int scenes, int samples, int rollouts, int threads) {
        const Command command = gradients_command();
        require_allowed(command, "--scenes", scenes);
        require_allowed(command, "--samples", samples);
        require_allowed(command, "--rollouts", rollouts);
        require_allowed_threads(threads);
        return computed([&] {
          return gradients({.run_folder = folder,
                            .scenes = scenes,
                            .samples = samples,
                            .rollouts = rollouts,
                            .json = true,
                            .threads = threads});
        });
      },
      "folder"_a, "scenes"_a = 64, "samples"_a = 128, "rollouts"_a = 4, "threads"_a = 0,
      "`saccade gradients --json`");
  m.def(
      "export_agent",
      [](const fs::path& folder, const std::optional<fs::path>& npz,
         const std::optional<fs::path>& onnx, const std::optional<fs::path>& agent, bool unrolled,
         bool force) {
        return computed([&] {
          return export_agent({.run_folder = folder,
                               .npz = npz.value_or(fs::path()),
                               .onnx = onnx.value_or(fs::path()),
                               .agent = agent.value_or(fs::path()),
                               .unrolled = unrolled,
                               .force = force});
        });
      },
      "folder"_a, "npz"_a.none(), "onnx"_a.none(), "agent"_a.none(), "unrolled"_a, "force"_a,
      "`saccade export`");
  m.def("find_run_folder", &find_run_folder, "path"_a,
        "A run folder, or that of the trained agent of this name.");
  m.def(
      "record_runs",
      [](std::vector<fs::path> folders, const fs::path& out, std::optional<int> scenes,
         std::optional<std::uint64_t> seed, const std::string& only, double fps, bool force) {
        require_some(folders);
        require_allowed(record_command(), "--scenes", scenes);
        const RecordOptions options{.run_folders = std::move(folders),
                                    .out = out,
                                    .scenes = scenes,
                                    .seed = seed,
                                    .only = only,
                                    .fps = fps,
                                    .force = force};
        return computed([&] { return record(options); });
      },
      "folders"_a, "out"_a, "scenes"_a = nb::none(), "seed"_a = nb::none(), "only"_a = "",
      "fps"_a = 3.0, "force"_a = false,
      "`saccade record`: returns what it prints. A video that was stopped is not written.");
}

}  // namespace saccade::python
