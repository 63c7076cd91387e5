#include "experiments/runs/run_failure.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "experiments/files/output.h"
#include "experiments/runs/folder_lock.h"

namespace saccade {

std::optional<RunFailure> read_failure(const RunFolder& folder) {
  std::ifstream file(folder.failure());
  RunFailure failure;
  if (!std::getline(file, failure.origin)) return std::nullopt;
  failure.message.assign(std::istreambuf_iterator<char>(file), {});
  failure.message.erase(failure.message.find_last_not_of('\n') + 1);
  return failure;
}

void keep_failure(const RunFolder& folder, const std::string& message) {
  if (folder.exists() && !std::filesystem::exists(folder.path() / "config.yaml")) return;
  try {
    replace_text(folder.failure(), fmt::format("{}\n{}\n", to_text(this_process("")), message));
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace saccade
