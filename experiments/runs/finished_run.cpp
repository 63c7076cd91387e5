#include "experiments/runs/finished_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "experiments/files/input.h"
#include "experiments/runs/trained.h"
#include "nn/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json read_json(const fs::path& path) {
  Json document = Json::parse(read_text(path), nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) throw InputError(fmt::format("{}: is no JSON object", path.string()));
  return document;
}

// What a key of a document holds; InputError where it is not there or of another kind.
template <class T>
T get(const Json& document, const fs::path& path, const std::string& key) {
  try {
    return document.at(key).get<T>();
  } catch (const Json::exception&) {
    throw InputError(fmt::format("{}: '{}' is missing or no value", path.string(), key));
  }
}

// A share with its ends, where all three are there.
std::optional<SceneShare> scene_share(const Json& summary, Metric metric) {
  SceneShare share;
  for (const auto& [name, value] :
       {std::pair(metric.name(), &share.value), std::pair(metric.low().name(), &share.low),
        std::pair(metric.high().name(), &share.high)}) {
    const auto found = summary.find(name);
    if (found == summary.end() || !found->is_number()) return std::nullopt;
    *value = found->get<double>();
  }
  return share;
}

void read_details(FinishedRun& run, const fs::path& path) {
  if (!fs::exists(path)) return;  // of a run before there was such a file
  const Json details = read_json(path);
  const auto values = [&](Metric metric) {
    return get<std::vector<double>>(details, path, metric.name());
  };
  run.class_names = get<std::vector<std::string>>(details, path, "class_names");
  run.error_by_glimpse = values("test/error_by_glimpse");
  run.confusion = values("test/confusion");
  const Json map = get<Json>(details, path, Metric("attention/look_map").name());
  run.look_map = {get<int>(map, path, "rows"), get<int>(map, path, "cols"),
                  get<std::vector<double>>(map, path, "weights")};
}

// Digits compare by their value: seed-2 comes before seed-10.
bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const auto number = [&](const std::string& s, std::size_t& at) {
        const std::size_t first = std::min(s.find_first_not_of('0', at), s.size());
        at = first;
        while (at < s.size() && digit(s[at])) ++at;
        return s.substr(first, at - first);
      };
      const std::string x = number(a, i), y = number(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i, ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

bool is_run(const fs::path& folder) { return fs::exists(folder / "config.yaml"); }

// The folders inside, those of experiments as they stand before those with overrides.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> inside;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) inside.push_back(entry.path());
  const auto rank = [](const fs::path& p) { return p.filename() == "base" ? 0 : 1; };
  std::ranges::sort(inside, [&](const fs::path& a, const fs::path& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b)
                              : natural_less(a.filename().string(), b.filename().string());
  });
  return inside;
}

void find_below(const fs::path& folder, std::vector<fs::path>& runs) {
  if (is_run(folder)) {
    if (std::ranges::find(runs, folder) == runs.end()) runs.push_back(folder);
    return;
  }
  std::ifstream study(folder / kStudyFile);
  for (std::string line; std::getline(study, line);) runs.push_back(folder / line);
  for (const fs::path& inside : folders_in(folder)) find_below(inside, runs);
}

}  // namespace

bool is_finished(const RunFolder& folder) {
  return fs::exists(folder.summary()) &&
         read_json(folder.summary()).value("status", "") == "finished";
}

FinishedRun read_trained_run(const fs::path& path) {
  const RunFolder folder(path);
  if (!is_run(path)) throw InputError(fmt::format("{}: is no run folder", path.string()));
  if (!is_finished(folder)) throw InputError(fmt::format("{}: is not finished", path.string()));
  FinishedRun run;
  run.folder = path;
  run.config = read_config(path / "config.yaml");
  run.command = read_text(path / "command.txt");
  run.command.erase(run.command.find_last_not_of('\n') + 1);
  run.checksums = get<std::map<std::string, std::string>>(read_json(path / "meta.json"),
                                                          path / "meta.json", "data_crc32");

  const Json summary = read_json(folder.summary());
  const auto number = [&](Metric metric) {
    return get<double>(summary, folder.summary(), metric.name());
  };
  const auto number_or_0 = [&](Metric metric) { return summary.value(metric.name(), 0.0); };
  run.valid_error = number("valid/error");
  run.episodes = number("episodes");
  run.seconds = number("time/elapsed");
  run.gflop_per_episode = number_or_0("episode/gflop");
  run.canvas_pixels = number_or_0("episode/canvas_pixels");
  for (const MetricsRow& row : read_metrics(folder.metrics()))
    if (row.contains("valid/error"))
      run.curve.push_back({row.at("episodes"), row.at("time/elapsed"), row.at("valid/error")});
  return run;
}

void read_test(FinishedRun& run) {
  const RunFolder folder(run.folder);
  const Json summary = read_json(folder.summary());
  run.error = get<double>(summary, folder.summary(), Metric("test/error").name());
  run.error_over_scenes =
      scene_share(summary, "test/error").value_or(SceneShare{run.error, run.error, run.error});
  for (const Metric metric : kControls)
    if (const auto share = scene_share(summary, metric)) run.controls[metric] = *share;
  if (summary.contains(Metric("attention/on_target").name())) {
    run.on_target = get<double>(summary, folder.summary(), Metric("attention/on_target").name());
    run.on_target_by_glimpse = get<std::vector<double>>(
        summary, folder.summary(), Metric("attention/on_target_by_glimpse").name());
  }
  read_details(run, folder.details());
}

FinishedRun read_finished_run(const fs::path& folder) {
  FinishedRun run = read_trained_run(folder);
  read_test(run);
  return run;
}

std::vector<fs::path> find_runs(const fs::path& said) {
  const fs::path folder = find_run_folder(said);
  if (!fs::is_directory(folder))
    throw InputError(fmt::format("{}: no such folder", folder.string()));
  std::vector<fs::path> runs;
  find_below(folder.lexically_normal(), runs);
  if (runs.empty())
    throw InputError(fmt::format(
        "{}: neither a run folder (no config.yaml) nor a study (none below)", folder.string()));
  return runs;
}

}  // namespace saccade
