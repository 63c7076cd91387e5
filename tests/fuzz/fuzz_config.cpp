// A YAML configuration or study; after a line "# overrides" one override per line. Reading, writing
// and reading again gives the same configuration.

#include <sstream>
#include <vector>

#include "experiments/runs/study.h"
#include "tests/fuzz/fuzz.h"

namespace saccade::fuzz {
namespace {

constexpr std::string_view kOverrides = "\n# overrides\n";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void check_written(const Config& config) {
  const std::string yaml = to_yaml(config);
  const Config again = parse_config(yaml, "written.yaml");
  require(differences(config, again).empty(), "read again, nothing differs");
  require(to_yaml(again) == yaml, "written again, the text is the same");
}

}  // namespace
}  // namespace saccade::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = input.find(fuzz::kOverrides);
  const std::string yaml(input.substr(0, cut));
  const std::vector<std::string> overrides =
      cut == input.npos ? std::vector<std::string>()
                        : fuzz::lines_of(input.substr(cut + fuzz::kOverrides.size()));
  std::vector<Config> configs;
  fuzz::takes([&] {
    const Study study = parse_study(yaml, "input.yaml", {}, overrides);
    configs = {study.runs.front().config, study.runs.back().config};
  });
  for (const Config& config : configs) fuzz::check_written(config);
  return 0;
}
