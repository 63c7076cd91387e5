#include "experiments/runs/run_failure.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/output.h"
#include "base/read_text.h"
#include "experiments/runs/folder_lock.h"

namespace saccade {
namespace {

constexpr std::uintmax_t kLongestText = 1 << 20;  // bytes

}  // namespace

std::optional<RunFailure> read_failure(const RunFolder& folder) {
  std::string text;
  try {
    text = read_text(folder.failure(), kLongestText);
  } catch (const InputError&) {  // no such file
    return std::nullopt;
  }
  const std::size_t line = text.find('\n');
  if (text.empty()) return std::nullopt;
  RunFailure failure{.origin = text.substr(0, line), .message = {}};
  if (line != text.npos) failure.message = text.substr(line + 1);
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
