// Runs a target on the given files: the seeds, and earlier findings.

#include <iostream>
#include <iterator>

#include "tests/fuzz/fuzz.h"

int main(int count, char** files) {
  for (int i = 1; i < count; ++i) {
    std::cout << files[i] << std::endl;  // flushed: the last one failed
    std::ifstream file(files[i], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  return count > 1 ? 0 : 1;
}
