// A MAT file with the cropped digits of SVHN, as it is, or one element of it that is compressed
// here, since random bytes are never valid.

#include "tests/env/photo_files.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade;
  static const TemporaryFolder folder;
  static const Bytes labels = mat_compressed(mat_variable("y", kMatUint8, {1, 1}, {1}));
  fuzz::Input input(data, size);
  const bool packed = input.choose(2) == 1;
  const Bytes bytes(input.rest().begin(), input.rest().end());
  for (const char* name : kSvhnFiles)
    write(folder.path / name, packed ? mat_file({mat_compressed(bytes), labels}) : bytes);
  fuzz::takes([&] { read_svhn(folder.path); });
  return 0;
}
