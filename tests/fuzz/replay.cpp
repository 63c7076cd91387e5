// Runs a target on every input in the given folders: the seeds, and earlier findings.

#include <algorithm>
#include <iostream>
#include <iterator>
#include <vector>

#include "tests/fuzz/fuzz.h"

int main(int count, char** folders) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < count; ++i)
    if (std::filesystem::is_directory(folders[i]))
      for (const auto& entry : std::filesystem::directory_iterator(folders[i]))
        files.push_back(entry.path());
  std::ranges::sort(files);
  for (const std::filesystem::path& path : files) {
    std::cout << path.string() << std::endl;  // flushed: the last one failed
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  return files.empty() ? 1 : 0;
}
