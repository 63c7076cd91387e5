#include <doctest/doctest.h>

#include <sys/stat.h>

#include "tests/check_contains.h"
#include "tests/env/photo_files.h"

namespace saccade {
namespace {

struct SvhnFolder : TemporaryFolder {
  SvhnFolder() { write_svhn(path, 12); }
  std::string fault() const {
    return message_of<InputError>([this] { read_svhn(path); });
  }
  /// Checks the message for these bytes as the test file.
  void check_fault(const Bytes& bytes, const std::vector<std::string>& words) const {
    write(path / kSvhnFiles[1], bytes);
    check_contains(fault(), {(path / kSvhnFiles[1]).string()});
    check_contains(fault(), words);
  }
};

const Bytes kX = mat_variable("X", kMatUint8, {32, 32, 3, 2}, svhn_pixels(2));
const Bytes kY = mat_variable("y", kMatUint8, {2, 1}, {10, 3});

Bytes labelled(MatClass kind, const std::vector<std::int32_t>& shape, const Bytes& labels) {
  return mat_file({kX, mat_variable("y", kind, shape, labels)});
}

Bytes doubles(const std::vector<double>& values) {
  Bytes bytes;
  put(bytes, values.data(), values.size() * sizeof(double));
  return bytes;
}

void check_images(const Dataset& set, int first) {
  for (int n = 0; n < set.size(); ++n)
    for (const int row : {0, 1, 31})
      for (const int col : {0, 2, 31})
        for (const int channel : {0, 1, 2})
          CHECK(set.images(n, row, col, channel) == photo_pixel(first + n, row, col, channel));
}

TEST_CASE("SVHN: the cropped digits are read upright and in colour, with label 10 as digit 0") {
  const SvhnFolder folder;
  const RawDatasets digits = read_svhn(folder.path);
  CHECK(digits.train.images.shape() == std::array<std::size_t, 4>{12, 32, 32, 3});
  CHECK(digits.test.size() == 10);
  check_images(digits.train, 0);
  check_images(digits.test, 1000);
  CHECK(digits.train.classes == 10);
  CHECK(digits.class_names[0] == "0");
  CHECK(digits.train.labels(0) == 1);
  CHECK(digits.train.labels(8) == 9);
  CHECK(digits.train.labels(9) == 0);
  CHECK(digits.train.labels(10) == 1);
}

TEST_CASE("SVHN: MAT files may be uncompressed, and their labels doubles") {
  const SvhnFolder folder;
  write(folder.path / kSvhnFiles[1], mat_file({kX, kY}));
  const RawDatasets plain = read_svhn(folder.path);
  check_images(plain.test, 0);
  CHECK(plain.test.labels(0) == 0);
  CHECK(plain.test.labels(1) == 3);
  write(folder.path / kSvhnFiles[1], labelled(kMatDouble, {1, 2}, doubles({10, 3})));
  CHECK(read_svhn(folder.path).test.labels == plain.test.labels);
}

TEST_CASE("SVHN: a file truncated anywhere is reported") {
  const SvhnFolder folder;
  const Bytes packed = mat_file({mat_compressed(kX), mat_compressed(kY)});
  for (const Bytes& whole : {packed, mat_file({kX, kY})})
    for (const std::size_t size : {whole.size() - 1, whole.size() - 20, whole.size() / 2,
                                   std::size_t{132}, std::size_t{60}, std::size_t{0}}) {
      CAPTURE(size);
      folder.check_fault(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)),
                         {"truncated", std::to_string(size) + " bytes"});
    }
  fs::remove(folder.path / kSvhnFiles[0]);
  check_contains(folder.fault(), {(folder.path / kSvhnFiles[0]).string(), "missing"});
}

TEST_CASE("SVHN: a file with other contents is reported") {
  const SvhnFolder folder;
  folder.check_fault(Bytes(4000, 7), {"MAT file"});
  Bytes header = mat_file({});
  folder.check_fault(header, {"no variable X", "X and y"});
  folder.check_fault(mat_file({kX}), {"no variable y"});
  folder.check_fault(mat_file({kY}), {"no variable X"});
  folder.check_fault(mat_file({mat_variable("X", kMatUint8, {32, 32, 3}, svhn_pixels(1)), kY}),
                     {"X is 32 x 32 x 3;", "32 x 32 x 3 x N"});
  folder.check_fault(mat_file({mat_variable("X", kMatUint8, {32, 48, 2, 2}, svhn_pixels(2)), kY}),
                     {"X is 32 x 48 x 2 x 2;"});
  folder.check_fault(mat_file({mat_variable("X", kMatInt8, {32, 32, 3, 2}, svhn_pixels(2)), kY}),
                     {"not of uint8"});
  folder.check_fault(labelled(kMatUint8, {3, 1}, {1, 2, 3}), {"y is 3 x 1", "2 images"});
  folder.check_fault(labelled(kMatInt8, {2, 1}, {1, 2}), {"y is neither"});
  folder.check_fault(labelled(kMatUint8, {2, 1}, {1, 0}), {"label 0 of image 2", "1 to 10"});
  folder.check_fault(labelled(kMatUint8, {2, 1}, {11, 1}), {"label 11 of image 1"});
  folder.check_fault(labelled(kMatDouble, {2, 1}, doubles({1, 2.5})), {"label 2.5 of image 2"});
}

TEST_CASE("SVHN: a file that cannot be decompressed is reported") {
  const SvhnFolder folder;
  Bytes bytes = mat_file({mat_compressed(kX), mat_compressed(kY)});
  bytes[128 + 8] ^= 0x55;  // start of the compressed X
  folder.check_fault(bytes, {"cannot be unpacked"});
}

TEST_CASE("SVHN: declared sizes are checked against the data") {
  const SvhnFolder folder;
  const Bytes x = mat_variable("X", kMatUint8, {32, 32, 3, 2'000'000}, svhn_pixels(2));
  folder.check_fault(mat_file({x, kY}), {"X is 32 x 32 x 3 x 2000000", "has 6144 bytes"});
  folder.check_fault(mat_file({mat_compressed(x), kY}), {"has 6144 bytes", "needed: 6144000000"});
  Bytes longer = kX;
  longer[kX.size() - 6144 - 1] = 0x70;  // the size of the pixels
  folder.check_fault(mat_file({longer, kY}), {"a part of 1879054336 bytes", "allowed"});
  folder.check_fault(mat_file({mat_compressed(longer), kY}), {"a part of 1879054336 bytes"});
  // A small part, whose size stands in the upper half of its first word, has room for 4 bytes.
  Bytes flags;
  for (const std::uint32_t word : {14U, 8U, 8U << 16 | 6U, 0U}) put(flags, &word, sizeof word);
  folder.check_fault(mat_file({flags}), {"a part of 8 bytes in an array; allowed: 4"});
}

TEST_CASE("SVHN: MAT files of many blocks are decompressed") {
  const SvhnFolder folder;
  const int count = 300;
  Bytes pixels = svhn_pixels(count);
  std::uint32_t state = 1;
  for (std::uint8_t& pixel : pixels)  // incompressible
    pixel = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  const Bytes y = mat_variable("y", kMatUint8, {count, 1}, svhn_labels(count));
  write(folder.path / kSvhnFiles[1],
        mat_file({mat_compressed(y),
                  mat_compressed(mat_variable("X", kMatUint8, {32, 32, 3, count}, pixels))}));
  const RawDatasets digits = read_svhn(folder.path);
  for (const int n : {0, 1, 150, 299})
    CHECK(digits.test.images(n, 3, 2, 1) == pixels[((n * 3 + 1) * 32 + 2) * 32 + 3]);
  CHECK(digits.test.labels(299) == 0);
}

TEST_CASE("SVHN: a pipe is refused") {
  const SvhnFolder folder;
  fs::remove(folder.path / kSvhnFiles[0]);
  REQUIRE(mkfifo((folder.path / kSvhnFiles[0]).c_str(), 0600) == 0);
  check_contains(folder.fault(), {kSvhnFiles[0], "not a regular file"});
}

}  // namespace
}  // namespace saccade
