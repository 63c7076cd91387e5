#include "experiments/compare.h"

#include <fmt/format.h>

#include "experiments/comparison/gather.h"
#include "experiments/comparison/report_files.h"
#include "experiments/comparison/tables.h"
#include "experiments/output.h"
#include "nn/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

fs::path out_folder(const CompareOptions& options) {
  if (!options.out.empty()) return options.out;
  return options.folders.size() == 1 ? options.folders[0] / "comparison" : fs::path("comparison");
}

// Throws InputError if anything there would be written over, or nothing can be written there.
void require_free(const fs::path& out, const std::vector<fs::path>& files, bool force) {
  if (fs::exists(out) && !fs::is_directory(out))
    throw InputError(fmt::format("{}: is no folder", out.string()));
  for (const fs::path& file : files)
    if (!force && fs::exists(file))
      throw InputError(fmt::format(
          "{}: exists already and is left as it is; --force writes over it, --out DIR chooses "
          "another folder",
          file.string()));
  std::error_code error;
  fs::create_directories(out, error);
  if (error)
    throw InputError(
        fmt::format("{}: the folder cannot be made: {}", out.string(), error.message()));
  OutputFile(out / "compare.md", /*force=*/true);  // whether anything can be written there
}

}  // namespace

std::string compare(const CompareOptions& options) {
  const fs::path out = out_folder(options);
  Comparison comparison = gather(options.folders);
  comparison.commands.push_back(options.command);
  const std::vector<Chart> charts = charts_of(comparison);
  std::vector<fs::path> files = report_files(out, charts);
  const fs::path report = files[0];
  for (const char* table : {"compare.md", "compare.csv"}) files.push_back(out / table);
  require_free(out, files, options.force);

  write_text(out / "compare.md", to_markdown(comparison));
  write_text(out / "compare.csv", to_csv(comparison));
  write_report(out, comparison, charts, std::nullopt);
  if (options.json) return to_json(comparison);
  return fmt::format("{}\n{}\n", to_table(comparison), report.string());
}

}  // namespace saccade
