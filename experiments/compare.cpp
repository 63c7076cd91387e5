#include "experiments/compare.h"

#include <fmt/format.h>

#include "experiments/comparison/gather.h"
#include "experiments/comparison/tables.h"
#include "experiments/output.h"
#include "nn/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReport = "report.html";

fs::path out_folder(const CompareOptions& options) {
  if (!options.out.empty()) return options.out;
  return options.folders.size() == 1 ? options.folders[0] / "comparison" : fs::path("comparison");
}

void make_folder(const fs::path& folder, bool force) {
  if (!force && fs::exists(folder / kReport))
    throw InputError(
        fmt::format("{}: exists already and is left as it is; --force writes over it, --out DIR "
                    "chooses another "
                    "folder",
                    (folder / kReport).string()));
  std::error_code error;
  fs::create_directories(folder / "charts", error);
  if (error)
    throw InputError(
        fmt::format("{}: the folder cannot be made: {}", folder.string(), error.message()));
  OutputFile(folder / kReport, /*force=*/true);  // whether anything can be written there
}

}  // namespace

std::string compare(const CompareOptions& options) {
  const fs::path out = out_folder(options);
  Comparison comparison = gather(options.folders);
  comparison.commands.push_back(options.command);
  make_folder(out, options.force);
  write_text(out / "compare.md", to_markdown(comparison));
  write_text(out / "compare.csv", to_csv(comparison));
  if (options.json) return to_json(comparison);
  return fmt::format("{}\n{}\n", to_table(comparison), (out / kReport).string());
}

}  // namespace saccade
