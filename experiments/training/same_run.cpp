#include "experiments/training/same_run.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/checksum.h"
#include "saccade_version.h"

namespace saccade {
namespace {

// Checksum of the program's own executable.
std::string checksum_of_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  return crc32_of(bytes.data(), bytes.size()).hex();
}

}  // namespace

void require_same_run(Ranks& ranks, const Config& config,
                      const std::map<std::string, std::string>& data_checksums) {
  if (ranks.alone()) return;
  const auto require_same = [&](const std::string& mine, const auto& difference) {
    const std::vector<std::string> all = ranks.gather_texts(mine);
    ranks.run_on_all([&] {
      for (int rank = 1; rank < ranks.count(); ++rank)
        if (all[rank] != all[0])
          throw InputError(
              fmt::format("rank {} is not as rank 0: {}; all ranks are to be started "
                          "with the same program, file, overrides and data",
                          rank, difference(all[rank], all[0])));
    });
  };
  const auto in_words = [](const char* what) {
    return [what](const std::string& there, const std::string& here) {
      return fmt::format("{}: {} there, {} here", what, there, here);
    };
  };
  require_same(SACCADE_VERSION " of commit " SACCADE_COMMIT, in_words("version"));
  require_same(checksum_of_program(), in_words("checksum of the program"));
  require_same(to_yaml(config), [](const std::string& there, const std::string& here) {
    const std::vector<Difference> changed =
        differences(parse_config(there, "rank"), parse_config(here, "rank 0"));
    if (changed.empty()) return std::string("the configuration");
    return fmt::format("{}: {} there, {} here", changed[0].key, changed[0].first,
                       changed[0].second);
  });
  require_same(nlohmann::json(data_checksums).dump(), in_words("checksums of the data"));
}

}  // namespace saccade
