#include "env/digits.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

#include "base/checksum.h"
#include "tests/check_contains.h"
#include "tests/env/digit_files.h"
#include "tests/special_files.h"

namespace saccade {
namespace {

void write_gz(const fs::path& path, const Bytes& bytes) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

Bytes read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST_CASE("IDX files are read plain and compressed") {
  IdxFolder folder;
  const RawDatasets plain = read_idx(folder.path, {});
  CHECK(plain.train.images.shape() == std::array<std::size_t, 4>{12, 3, 2, 1});
  CHECK(plain.train.images(1, 2, 1, 0) == 11);
  CHECK(plain.test.images(0, 0, 0, 0) == 100);
  CHECK(plain.train.labels(5) == 2);
  CHECK(plain.train.classes == 3);
  CHECK(plain.test.classes == 3);
  CHECK(plain.class_names == std::vector<std::string>{"0", "1", "2"});

  for (const char* name : kIdxFiles) {
    const Bytes bytes = read(folder.path / name);
    CHECK(plain.checksums.at(name) == crc32_of(bytes.data(), bytes.size()).hex());
    fs::remove(folder.path / name);
    write_gz(folder.path / (std::string(name) + ".gz"), bytes);
  }
  const RawDatasets compressed = read_idx(folder.path, {});
  CHECK(compressed.train.images == plain.train.images);
  CHECK(compressed.test.labels == plain.test.labels);
  CHECK(compressed.checksums == plain.checksums);
}

TEST_CASE("IDX images may have three channels") {
  IdxFolder folder;
  write(folder.path / kIdxFiles[0], idx_bytes(0x804, {12, 3, 2, 3}));
  write(folder.path / kIdxFiles[2], idx_bytes(0x804, {4, 3, 2, 3}));
  const RawDatasets digits = read_idx(folder.path, {});
  CHECK(digits.train.channels() == 3);
  CHECK(digits.train.images(1, 0, 0, 2) == 20);

  write(folder.path / kIdxFiles[0], idx_bytes(0x804, {12, 3, 2, 2}));
  check_contains(folder.fault(), {kIdxFiles[0], "2 channels", "1 or 3"});
}

TEST_CASE("a written IDX dataset is read back") {
  IdxFolder folder;
  for (const std::uint32_t magic : {0x803U, 0x804U}) {
    CAPTURE(magic);
    const bool grey = magic == 0x803;
    using Shape = std::vector<std::uint32_t>;
    write(folder.path / kIdxFiles[0],
          idx_bytes(magic, grey ? Shape{12, 3, 2} : Shape{12, 3, 2, 3}));
    write(folder.path / kIdxFiles[2], idx_bytes(magic, grey ? Shape{4, 3, 2} : Shape{4, 3, 2, 3}));
    const RawDatasets digits = read_idx(folder.path, {});
    const TemporaryFolder copy;
    write_idx(copy.path, digits.train, digits.test);
    for (const char* name : kIdxFiles) CHECK(read(copy.path / name) == read(folder.path / name));
  }

  RawDatasets digits = read_idx(folder.path, {});
  digits.test.labels(2) = 256;
  const auto fault = [&](const fs::path& place) {
    return message_of<InputError>([&] { write_idx(place, digits.train, digits.test); });
  };
  check_contains(fault(folder.path), {"label 256", "0 to 255"});
  digits.test.images.resize({4, 3, 3, 3});
  check_contains(fault(folder.path), {"3 x 2 x 3", "3 x 3 x 3", "one size"});
  CHECK(message_of<std::runtime_error>([&] {
          write_idx(folder.path / "none", digits.train, digits.train);
        }).find("train-images-idx3-ubyte: cannot be written") != std::string::npos);
}

TEST_CASE("a bad IDX file is reported with its fault") {
  IdxFolder folder;
  const fs::path images = folder.path / kIdxFiles[0], labels = folder.path / kIdxFiles[1];
  const fs::path compressed = images.string() + ".gz";
  const Bytes good = read(images);

  SUBCASE("missing") {
    fs::remove(images);
    check_contains(folder.fault(), {images.string(), "missing", ".gz"});
  }
  SUBCASE("a pipe") {
    fs::remove(images);
    const EmptyPipe pipe(images);
    check_contains(folder.fault(), {images.string(), "not a regular file"});
  }
  SUBCASE("truncated") {
    write(images, Bytes(good.begin(), good.end() - 1));
    check_contains(folder.fault(), {images.string(), "truncated", "12 x 3 x 2", "72", "71"});
  }
  SUBCASE("truncated in the header") {
    write(images, Bytes(good.begin(), good.begin() + 9));
    check_contains(folder.fault(), {images.string(), "truncated", "9 bytes"});
  }
  SUBCASE("no bytes at all") {
    write(images, {});
    check_contains(folder.fault(), {images.string(), "truncated", "0 bytes"});
  }
  SUBCASE("trailing bytes") {
    Bytes longer = good;
    longer.push_back(0);
    write(images, longer);
    check_contains(folder.fault(), {images.string(), "trailing", "72", "more"});
  }
  SUBCASE("absurd dimensions") {
    Bytes absurd = good;
    std::fill(absurd.begin() + 4, absurd.begin() + 16, std::uint8_t{0xff});
    write(images, absurd);
    check_contains(folder.fault(), {images.string(), "truncated", "4294967295"});
  }
  SUBCASE("absurd dimensions of a gzip file") {
    fs::remove(images);
    Bytes absurd = good;
    absurd[4] = 0x10;
    write_gz(compressed, absurd);
    check_contains(folder.fault(), {compressed.string(), "truncated", "268435468", "at most"});
  }
  SUBCASE("a gzip file that unpacks to far more than its header says") {
    fs::remove(images);
    Bytes bomb = good;
    bomb.resize(100'000'000);
    write_gz(compressed, bomb);
    check_contains(folder.fault(), {compressed.string(), "trailing", "72", "more"});
  }
  SUBCASE("truncated gzip") {
    fs::remove(images);
    write_gz(compressed, good);
    const Bytes whole = read(compressed);
    write(compressed, Bytes(whole.begin(), whole.end() - 12));
    check_contains(folder.fault(), {compressed.string(), "truncated"});
  }
  SUBCASE("corrupt gzip") {
    fs::remove(images);
    write_gz(compressed, good);
    Bytes whole = read(compressed);
    whole[whole.size() - 6] ^= 0x55;  // within the checksum
    write(compressed, whole);
    check_contains(folder.fault(), {compressed.string(), "corrupt"});
  }
  SUBCASE("wrong magic") {
    write(images, idx_bytes(0x801, {12}));
    check_contains(folder.fault(), {images.string(), "0x00000801", "0x00000803", "0x00000804"});
    write(images, good);
    write(labels, good);
    check_contains(folder.fault(), {labels.string(), "0x00000803", "0x00000801"});
  }
  SUBCASE("counts that disagree") {
    write(labels, idx_bytes(0x801, {11}, 0, 3));
    check_contains(folder.fault(), {images.string(), labels.string(), "12 images", "11 labels"});
  }
  SUBCASE("train and test of different size") {
    write(folder.path / kIdxFiles[2], idx_bytes(0x803, {4, 2, 2}));
    check_contains(folder.fault(), {kIdxFiles[0], kIdxFiles[2], "3 x 2 x 1", "2 x 2 x 1"});
  }
  SUBCASE("empty") {
    write(images, idx_bytes(0x803, {0, 3, 2}));
    check_contains(folder.fault(), {images.string(), "empty", "0 x 3 x 2"});
  }
  SUBCASE("another checksum than the known one") {
    const std::string fault = message_of<InputError>([&] {
      read_idx(folder.path, {{kIdxFiles[0], 0x12345678}});
    });
    check_contains(fault, {images.string(), "12345678", crc32_of(good.data(), good.size()).hex(),
                           "data.source=idx"});
  }
}

}  // namespace
}  // namespace saccade
