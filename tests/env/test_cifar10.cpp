#include <doctest/doctest.h>

#include "tests/check_contains.h"
#include "tests/env/photo_files.h"

namespace saccade {
namespace {

struct Cifar10Folder : TemporaryFolder {
  Cifar10Folder() { write_cifar10(path, 3); }
  std::string fault() const {
    return message_of<InputError>([this] { read_cifar10(path); });
  }
};

TEST_CASE("CIFAR-10: the binary version is read, with its planes as colours") {
  const Cifar10Folder folder;
  const RawDatasets digits = read_cifar10(folder.path);
  CHECK(digits.train.images.shape() == std::array<std::size_t, 4>{15, 32, 32, 3});
  CHECK(digits.test.images.shape() == std::array<std::size_t, 4>{3, 32, 32, 3});
  for (int n = 0; n < 18; ++n) {
    const Dataset& set = n < 15 ? digits.train : digits.test;
    CHECK(set.labels(n % 15) == n % 10);
    for (const int row : {0, 1, 31})
      for (const int col : {0, 2, 31})
        for (const int channel : {0, 1, 2})
          CHECK(set.images(n % 15, row, col, channel) == photo_pixel(n, row, col, channel));
  }
  CHECK(digits.train.classes == 10);
  CHECK(digits.class_names[0] == "airplane");
  CHECK(digits.class_names[9] == "truck");
}

TEST_CASE("CIFAR-10: batches.meta.txt names the classes") {
  const Cifar10Folder folder;
  const auto put_names = [&](const std::string& text) {
    write(folder.path / "batches.meta.txt", Bytes(text.begin(), text.end()));
  };
  put_names("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  CHECK(read_cifar10(folder.path).class_names[9] == "j");
  put_names("a\nb\nc\n");
  check_contains(folder.fault(), {"batches.meta.txt", "3 names", "10"});
}

TEST_CASE("CIFAR-10: a bad file is reported with its fault") {
  const Cifar10Folder folder;
  const fs::path third = folder.path / kCifar10Files[2];
  Bytes bytes = cifar10_batch(3, 0);
  bytes[2 * 3073] = 10;
  write(third, bytes);
  check_contains(folder.fault(), {third.string(), "label 10 of image 3", "0 to 9"});
  bytes.pop_back();
  write(third, bytes);
  check_contains(folder.fault(), {third.string(), "9218 bytes", "3073", "truncated"});
  write(third, {});
  check_contains(folder.fault(), {third.string(), "0 bytes", "3073"});
  fs::remove(third);
  check_contains(folder.fault(), {third.string(), "missing"});
  fs::create_directory(third);
  check_contains(folder.fault(), {third.string(), "not a regular file"});
}

}  // namespace
}  // namespace saccade
