// An .npz file as the tests read those the program wrote: the whole file, or the bytes of one
// array.

#include "tests/experiments/npz.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade;
  static const TemporaryFolder folder;
  fuzz::Input input(data, size);
  if (input.choose(2) == 0) {
    const std::filesystem::path path = folder.path / "input.npz";
    fuzz::put_file(path, input.rest());
    fuzz::takes([&] {
      const ReadNpz npz(path);
      for (const std::string& name : npz.names()) fuzz::takes([&] { npz.get<float>(name); });
    });
  } else {
    const std::string bytes(input.rest());
    fuzz::takes([&] { npy_array<float>(bytes); });
    fuzz::takes([&] { npy_array<int>(bytes); });
  }
  return 0;
}
