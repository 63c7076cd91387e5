#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "experiments/analysis/evaluate.h"
#include "experiments/comparison/compare.h"
#include "experiments/comparison/gather.h"
#include "experiments/comparison/tables.h"
#include "experiments/config/preset.h"
#include "experiments/config/settings.h"
#include "experiments/config/study_run.h"
#include "experiments/export/export_agent.h"
#include "experiments/export/web_page.h"
#include "experiments/files/shipped.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/metrics_file.h"
#include "experiments/runs/study.h"
#include "experiments/runs/trained.h"
#include "nn/parallel.h"
#include "python/bindings/calls.h"
#include "python/bindings/module.h"
#include "python/bindings/own_parts.h"
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
  nb::object operator()(const LogRange* field) const {
    if (field->is_point()) return nb::cast(field->from);
    nb::dict range;
    range["from"] = field->from;
    range["to"] = field->to;
    return range;
  }
  nb::object operator()(const auto* field) const { return nb::cast(*field); }
};

ConfigItems config_items(const fs::path& path) { return items_of(read_config(path)); }

// Returns the settings of a file that differ from the defaults, as YAML; the values it varies are
// left out.
std::map<std::string, std::string> changed_settings(const fs::path& path) {
  const Config config = ExperimentFile(read_config_text(path), path.string()).run({}, {});
  std::map<std::string, std::string> changed;
  for (const Difference& difference : differences(Config{}, config))
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

nb::object in_python_types(const nlohmann::ordered_json& json) {
  if (json.is_object()) {
    nb::dict values;
    for (const auto& [key, value] : json.items()) values[key.c_str()] = in_python_types(value);
    return values;
  }
  if (json.is_array()) {
    nb::list values;
    for (const auto& value : json) values.append(in_python_types(value));
    return values;
  }
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    return nb::steal(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  }
  if (json.is_boolean()) return nb::cast(json.get<bool>());
  if (json.is_number_integer()) return nb::cast(json.get<std::int64_t>());
  if (json.is_number() && std::isfinite(json.get<double>())) return nb::cast(json.get<double>());
  return nb::none();
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

nb::dict to_python(const nlohmann::ordered_json& document) {
  return nb::cast<nb::dict>(in_python_types(document));
}

ConfigItems items_of(const Config& config) {
  ConfigItems items;
  for (const Setting& setting : settings())
    items.emplace_back(setting.key, std::visit(ToPython{}, field_in(config, setting.field)));
  return items;
}

void require_allowed(const std::string& name, Range range, std::optional<int> value) {
  if (value && (*value < range.least || *value > range.most))
    throw InputError(
        fmt::format("{}: {}; allowed: {} to {}", name, *value, range.least, range.most));
}

void require_allowed_threads(int threads) {
  if (threads != 0) require_allowed("threads", kThreads, threads);
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
      [](const fs::path& folder, std::optional<int> episodes, std::optional<int> draws, int threads,
         std::optional<double> stop, std::optional<double> stop_error,
         std::optional<double> stop_looks, const SceneOverrides& other_scenes,
         nb::handle own_parts) {
        require_allowed("episodes", EvaluateRequest::kScenes, episodes);
        require_allowed("draws", EvaluateRequest::kDraws, draws);
        require_allowed_threads(threads);
        const PythonParts own(own_parts);
        return to_python(to_json(computed([&] {
          return evaluate({.run_folder = folder,
                           .on = {.scenes = other_scenes,
                                  .test_scenes = episodes.value_or(0),
                                  .draws = draws.value_or(0),
                                  .own = own.get()},
                           .threads = threads,
                           .stop = stop,
                           .stop_target = {.error = stop_error, .looks = stop_looks}});
        })));
      },
      "folder"_a, "episodes"_a.none(), "draws"_a.none(), "threads"_a, "stop"_a.none(),
      "stop_error"_a.none(), "stop_looks"_a.none(), "other_scenes"_a, "own_parts"_a,
      "`saccade eval --json`");
  m.def(
      "compare",
      [](std::vector<fs::path> folders, std::vector<std::string> tuned_by,
         const std::optional<fs::path>& out, bool force, const std::string& command,
         std::optional<double> stop_error, std::optional<double> stop_looks,
         const SceneOverrides& other_scenes, nb::handle own_parts, int threads) {
        require_some(folders);
        require_allowed_threads(threads);
        const PythonParts own(own_parts);
        const CompareRequest request{.folders = std::move(folders),
                                     .out = out.value_or(fs::path()),
                                     .tuned_by = std::move(tuned_by),
                                     .stop_target = {.error = stop_error, .looks = stop_looks},
                                     .other_scenes = other_scenes,
                                     .own = own.get(),
                                     .force = force,
                                     .command = command,
                                     .threads = threads};
        const ComparedRuns compared = computed([&] { return compare(request); });
        return std::pair(to_python(to_json(compared.comparison)), compared.report);
      },
      "folders"_a, "tuned_by"_a, "out"_a.none(), "force"_a, "command"_a, "stop_error"_a.none(),
      "stop_looks"_a.none(), "other_scenes"_a, "own_parts"_a, "threads"_a,
      "`saccade compare --json`, and its report.");
  m.def(
      "comparison",
      [](const std::vector<fs::path>& folders, const std::vector<std::string>& tuned_by) {
        require_some(folders);
        return to_python(computed([&] { return to_json(gather(folders, tuned_by)); }));
      },
      "folders"_a, "tuned_by"_a, "The same document without any file.");
  m.def(
      "export_agent",
      [](const fs::path& folder, const std::optional<fs::path>& npz,
         const std::optional<fs::path>& onnx, const std::optional<fs::path>& agent, bool unrolled,
         bool half, bool force) {
        computed([&] {
          return export_agent({.run_folder = folder,
                               .npz = npz.value_or(fs::path()),
                               .onnx = onnx.value_or(fs::path()),
                               .agent = agent.value_or(fs::path()),
                               .half = half,
                               .unrolled = unrolled,
                               .force = force});
        });
      },
      "folder"_a, "npz"_a.none(), "onnx"_a.none(), "agent"_a.none(), "unrolled"_a, "half"_a,
      "force"_a, "`saccade export`");
  m.def(
      "export_web",
      [](const fs::path& agent, const fs::path& target, bool single) {
        require_threads();
        compute_until_stopped(
            [&] { write_web_page({.agents = {agent}, .target = target, .single = single}); });
      },
      "agent"_a, "target"_a, "single"_a, "`saccade export --web`");
  m.def("find_run_folder", &find_run_folder, "path"_a,
        "A run folder, or that of the trained agent of this name.");
}

}  // namespace saccade::python
