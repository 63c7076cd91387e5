// One file of a run folder that `compare` reads together with a second run, both otherwise valid:
// tables, charts and the report page are made from them.

#include <array>

#include "experiments/comparison/chart.h"
#include "experiments/comparison/gather.h"
#include "experiments/comparison/report_page.h"
#include "experiments/comparison/tables.h"
#include "experiments/files/json_text.h"
#include "experiments/runs/run_status.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support.h"

namespace saccade::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFiles = {"metrics.csv", "test.json",   "summary.json", "meta.json",
                               "config.yaml", "command.txt", "failed.txt"};

/// Copies of the run in run/, the second as another variant. Not as another seed, because intervals
/// over seeds take so long that little else would be tried.
struct TwoRuns : TemporaryFolder {
  TwoRuns() {
    for (const fs::path& run : {good, bad}) fs::copy(SACCADE_FUZZ_RUN, run);
    std::ofstream(bad / "config.yaml", std::ios::app) << "reinforce: {advantage: ema}\n";
  }

  const fs::path good = path / "good", bad = path / "bad";
};

void compare(std::vector<fs::path> folders) {
  const Comparison comparison = gather(folders);
  const std::vector<Chart> charts = charts_of(comparison);
  report_page(comparison, charts, std::nullopt);
  to_table(comparison);
  to_markdown(comparison);
  to_csv(comparison);
  json_text(to_json(comparison));
}

}  // namespace
}  // namespace saccade::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade;
  static const fuzz::TwoRuns runs;
  fuzz::Input input(data, size);
  const bool both = input.choose(2) == 1;
  const fuzz::fs::path file = runs.bad / fuzz::kFiles[input.choose(fuzz::kFiles.size())],
                       kept = runs.path / "kept";
  std::error_code none;
  fuzz::fs::rename(file, kept, none);
  fuzz::put_file(file, input.rest());
  fuzz::takes([&] {
    fuzz::compare(both ? std::vector{runs.good, runs.bad} : std::vector{runs.bad});
  });
  fuzz::takes([&] { status_of(RunFolder(runs.bad)); });
  fuzz::fs::remove(file);
  fuzz::fs::rename(kept, file, none);
  return 0;
}
