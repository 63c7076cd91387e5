// One file of CIFAR-10, the others being valid: a batch, or the class names.

#include "tests/env/photo_files.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade;
  static const struct Good : TemporaryFolder {
    Good() { write_cifar10(path, 1); }
  } folder;
  fuzz::Input input(data, size);
  const std::size_t choice = input.choose(3);
  const std::filesystem::path file = folder.path / (choice == 0   ? "batches.meta.txt"
                                                    : choice == 1 ? kCifar10Files.front()
                                                                  : kCifar10Files.back());
  fuzz::put_file(file, input.rest());
  fuzz::takes([&] { read_cifar10(folder.path); });
  std::filesystem::remove(folder.path / "batches.meta.txt");
  if (choice > 0) write(file, cifar10_batch(1, 0));
  return 0;
}
