#include "env/digits.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <opencv2/imgcodecs.hpp>
#include <set>
#include <xtensor/xview.hpp>

#include "nn/error.h"
#include "nn/parallel.h"
#include "tests/support.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

/// The bytes of an IDX file whose values count up from `first`, repeating after `period`.
Bytes idx_bytes(std::uint32_t magic, const std::vector<std::uint32_t>& shape, int first = 0,
                int period = 251) {
  Bytes bytes;
  std::size_t count = 1;
  const auto put = [&](std::uint32_t word) {
    for (const int shift : {24, 16, 8, 0})
      bytes.push_back(static_cast<std::uint8_t>(word >> shift));
  };
  put(magic);
  for (const std::uint32_t size : shape) {
    put(size);
    count *= size;
  }
  for (std::size_t i = 0; i < count; ++i)
    bytes.push_back(static_cast<std::uint8_t>((i + first) % period));
  return bytes;
}

void write(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

void write_gz(const fs::path& path, const Bytes& bytes) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

Bytes read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A good IDX set: 12 training and 4 test images of 3 x 2 pixels, labels 0 1 2 0 1 2 ...
struct IdxFolder : TemporaryFolder {
  IdxFolder() {
    write(path / kIdxFiles[0], idx_bytes(0x803, {12, 3, 2}));
    write(path / kIdxFiles[1], idx_bytes(0x801, {12}, 0, 3));
    write(path / kIdxFiles[2], idx_bytes(0x803, {4, 3, 2}, 100));
    write(path / kIdxFiles[3], idx_bytes(0x801, {4}, 0, 3));
  }
  std::string fault() const {
    return message_of<InputError>([this] { read_idx(path, {}); });
  }
};

void write_image(const fs::path& path, const cv::Mat& pixels) {
  fs::create_directories(path.parent_path());
  REQUIRE(cv::imwrite(path.string(), pixels));
}

/// `count` grey 5 x 4 images a class, filled with 40 * (1 + label) + index.
void write_classes(const fs::path& folder, const std::vector<std::string>& classes, int count) {
  for (std::size_t label = 0; label < classes.size(); ++label)
    for (int i = 0; i < count; ++i)
      write_image(folder / classes[label] / fmt::format("{}.png", i),
                  cv::Mat(5, 4, CV_8UC1, cv::Scalar(40.0 * static_cast<double>(1 + label) + i)));
}

std::string folder_fault(const fs::path& folder, int size = 0) {
  return message_of<InputError>([&] { read_folder(folder, size); });
}

void check_contains(const std::string& message, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    CAPTURE(message);
    CAPTURE(word);
    CHECK(message.find(word) != std::string::npos);
  }
}

std::string load_fault(const DataConfig& config) {
  return message_of<InputError>([&] { load_digits(config); });
}

TEST_CASE("IDX files are read plain and compressed") {
  IdxFolder folder;
  const RawDigits plain = read_idx(folder.path, {});
  CHECK(plain.train.images.shape() == std::array<std::size_t, 4>{12, 3, 2, 1});
  CHECK(plain.train.images(1, 2, 1, 0) == 11);
  CHECK(plain.test.images(0, 0, 0, 0) == 100);
  CHECK(plain.train.labels(5) == 2);
  CHECK(plain.train.classes == 3);
  CHECK(plain.test.classes == 3);
  CHECK(plain.class_names == std::vector<std::string>{"0", "1", "2"});

  for (const char* name : kIdxFiles) {
    const Bytes bytes = read(folder.path / name);
    CHECK(plain.checksums.at(name) == fmt::format("{:08x}", crc32_of(bytes)));
    fs::remove(folder.path / name);
    write_gz(folder.path / (std::string(name) + ".gz"), bytes);
  }
  const RawDigits compressed = read_idx(folder.path, {});
  CHECK(compressed.train.images == plain.train.images);
  CHECK(compressed.test.labels == plain.test.labels);
  CHECK(compressed.checksums == plain.checksums);
}

TEST_CASE("IDX images may have three channels") {
  IdxFolder folder;
  write(folder.path / kIdxFiles[0], idx_bytes(0x804, {12, 3, 2, 3}));
  write(folder.path / kIdxFiles[2], idx_bytes(0x804, {4, 3, 2, 3}));
  const RawDigits digits = read_idx(folder.path, {});
  CHECK(digits.train.channels() == 3);
  CHECK(digits.train.images(1, 0, 0, 2) == 20);

  write(folder.path / kIdxFiles[0], idx_bytes(0x804, {12, 3, 2, 2}));
  check_contains(folder.fault(), {kIdxFiles[0], "2 channels", "1 or 3"});
}

TEST_CASE("a bad IDX file is named with its fault") {
  IdxFolder folder;
  const fs::path images = folder.path / kIdxFiles[0], labels = folder.path / kIdxFiles[1];
  const fs::path compressed = images.string() + ".gz";
  const Bytes good = read(images);

  SUBCASE("missing") {
    fs::remove(images);
    check_contains(folder.fault(), {images.string(), "missing", ".gz"});
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
    check_contains(folder.fault(), {images.string(), "trailing", "72", "73"});
  }
  SUBCASE("absurd dimensions") {
    Bytes absurd = good;
    std::fill(absurd.begin() + 4, absurd.begin() + 16, std::uint8_t{0xff});
    write(images, absurd);
    check_contains(folder.fault(), {images.string(), "truncated", "4294967295"});
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
    whole[whole.size() - 6] ^= 0x55;  // in the checksum
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
    check_contains(fault, {images.string(), "12345678", fmt::format("{:08x}", crc32_of(good)),
                           "data.source=idx"});
  }
}

TEST_CASE("a folder of images is read by class") {
  TemporaryFolder folder;
  write_classes(folder.path, {"cat", "ant", "bee"}, 12);
  write(folder.path / "notes.txt", {1});
  write(folder.path / "ant" / ".hidden.png", {1});
  const RawDigits digits = read_folder(folder.path, 0);
  CHECK(digits.class_names == std::vector<std::string>{"ant", "bee", "cat"});
  CHECK(digits.train.size() == 30);
  CHECK(digits.test.size() == 6);
  CHECK(digits.test.classes == 3);
  CHECK(digits.train.images.shape() == std::array<std::size_t, 4>{30, 5, 4, 1});

  const std::array first{80, 120, 40};  // of ant, bee, cat as written
  std::set<int> seen;                   // every image is in exactly one of the two
  for (const DigitSet* set : {&digits.train, &digits.test})
    for (int i = 0; i < set->size(); ++i) {
      const int value = set->images(i, 0, 0, 0);
      CHECK(value / 40 * 40 == first[set->labels(i)]);
      CHECK(seen.insert(value).second);
    }
  CHECK(seen.size() == 36);
  const auto& labels = digits.train.labels;
  CHECK_FALSE(std::is_sorted(labels.begin(), labels.end()));
  CHECK(read_folder(folder.path, 0).train.images == digits.train.images);
}

TEST_CASE("a folder may have its own test images") {
  TemporaryFolder folder;
  write_classes(folder.path / "train", {"a", "b"}, 5);
  write_classes(folder.path / "test", {"a", "b"}, 2);
  const RawDigits digits = read_folder(folder.path, 0);
  CHECK(digits.train.size() == 10);
  CHECK(digits.test.size() == 4);

  write_classes(folder.path / "test", {"c"}, 1);
  check_contains(folder_fault(folder.path), {"train", "test", "a, b, c", "the same"});
}

TEST_CASE("images of a folder become RGB, 8 bit and of one size") {
  TemporaryFolder folder;
  write_image(folder.path / "a" / "alpha.PNG", cv::Mat(6, 6, CV_8UC4, cv::Scalar(1, 2, 3, 128)));
  write_image(folder.path / "a" / "deep.png", cv::Mat(6, 6, CV_16UC1, cv::Scalar(257 * 9)));
  write_image(folder.path / "b" / "photo.Jpeg", cv::Mat(80, 50, CV_8UC3, cv::Scalar::all(200)));
  cv::Mat stripes(12, 6, CV_8UC1, cv::Scalar(0));
  for (int row = 0; row < stripes.rows; row += 2) stripes.row(row).setTo(100);
  write_image(folder.path / "b" / "stripes.png", stripes);
  write_image(folder.path / "b" / "dot.png", cv::Mat(1, 1, CV_8UC1, cv::Scalar(77)));
  const RawDigits digits = read_folder(folder.path, 6);
  std::multiset<std::array<int, 3>> colours;
  for (const DigitSet* set : {&digits.train, &digits.test}) {
    CHECK(set->rows() == 6);
    CHECK(set->cols() == 6);
    REQUIRE(set->channels() == 3);
    for (int i = 0; i < set->size(); ++i)
      colours.insert({set->images(i, 3, 3, 0), set->images(i, 3, 3, 1), set->images(i, 3, 3, 2)});
  }
  CHECK(colours == std::multiset<std::array<int, 3>>{
                       {3, 2, 1}, {9, 9, 9}, {200, 200, 200}, {50, 50, 50}, {77, 77, 77}});

  check_contains(folder_fault(folder.path), {folder.path.string(), "data.size", "rows x cols"});
}

TEST_CASE("a bad folder is named with its fault") {
  TemporaryFolder folder;
  SUBCASE("not there") {
    check_contains(folder_fault(folder.path / "nowhere"), {"nowhere", "No such file"});
  }
  SUBCASE("one class") {
    write_classes(folder.path, {"only"}, 3);
    check_contains(folder_fault(folder.path), {folder.path.string(), "1 class", "only", "2"});
  }
  SUBCASE("a class without images") {
    write_classes(folder.path, {"a", "b"}, 3);
    fs::create_directory(folder.path / "c");
    check_contains(folder_fault(folder.path), {(folder.path / "c").string(), "no images", ".png"});
  }
  SUBCASE("a file that is no image") {
    write_classes(folder.path, {"a", "b"}, 3);
    write(folder.path / "b" / "page.jpg", {'<', 'h', 't', 'm', 'l', '>'});
    check_contains(folder_fault(folder.path), {"page.jpg", "cannot be decoded"});
  }
  SUBCASE("sizes that differ") {
    write_classes(folder.path, {"a", "b"}, 3);
    write_image(folder.path / "b" / "wide.png", cv::Mat(5, 9, CV_8UC1, cv::Scalar(0)));
    check_contains(folder_fault(folder.path), {"wide.png", "5 x 9", "5 x 4", "data.size"});
  }
}

TEST_CASE("the last sixth of the training digits are for validation") {
  IdxFolder folder;
  const Digits digits = load_digits({.source = "idx", .path = folder.path.string()});
  const RawDigits raw = read_idx(folder.path, {});
  CHECK(digits.train.size() == 10);
  CHECK(digits.valid.size() == 2);
  CHECK(digits.test.size() == 4);
  CHECK(digits.train.images(9, 2, 1, 0) == raw.train.images(9, 2, 1, 0));
  CHECK(digits.valid.images(0, 0, 0, 0) == raw.train.images(10, 0, 0, 0));
  CHECK(digits.valid.labels(1) == raw.train.labels(11));
  CHECK(digits.valid.classes == 3);
  CHECK(digits.checksums.size() == 4);

  write(folder.path / kIdxFiles[0], idx_bytes(0x803, {5, 3, 2}));
  write(folder.path / kIdxFiles[1], idx_bytes(0x801, {5}, 0, 3));
  check_contains(load_fault({.source = "idx", .path = folder.path.string()}),
                 {"5 training digits", "at least 6"});
}

TEST_CASE("of many training digits the last 5000 are for validation") {
  IdxFolder folder;
  write(folder.path / kIdxFiles[0], idx_bytes(0x803, {31000, 3, 2}));
  write(folder.path / kIdxFiles[1], idx_bytes(0x801, {31000}, 0, 3));
  const Digits digits = load_digits({.source = "idx", .path = folder.path.string()});
  CHECK(digits.train.size() == 26000);
  CHECK(digits.valid.size() == 5000);
  CHECK(digits.valid.labels(0) == 26000 % 3);
}

TEST_CASE("files are looked for where data.path, SACCADE_DATA and the cache say") {
  TemporaryFolder data, cache;
  const TemporaryVariable data_variable("SACCADE_DATA", data.path.c_str());
  const TemporaryVariable cache_variable("XDG_CACHE_HOME", cache.path.c_str());
  check_contains(load_fault({.source = "mnist"}),
                 {(data.path / "mnist").string(), (cache.path / "saccade/mnist").string(),
                  kIdxFiles[0], kIdxFiles[1], kIdxFiles[2], kIdxFiles[3], "data.source=synthetic"});
  IdxFolder good;
  fs::create_directories(cache.path / "saccade");
  fs::copy(good.path, cache.path / "saccade" / "mnist");
  check_contains(load_fault({.source = "mnist"}),
                 {(cache.path / "saccade/mnist").string(), "e9f4d8b3", "data.source=idx"});
  check_contains(load_fault({.source = "fashion", .path = good.path.string()}),
                 {good.path.string(), "10 classes", "have 3"});
  check_contains(load_fault({.source = "mnist", .path = data.path.string()}),
                 {(data.path / kIdxFiles[0]).string(), "missing"});

  write(good.path / kIdxFiles[1], idx_bytes(0x801, {12}, 0, 10));
  fs::copy(good.path, data.path / "kmnist");
  CHECK(load_digits({.source = "kmnist"}).class_names[2] == "su");
}

TEST_CASE("home is the last place to look in") {
  TemporaryFolder home;
  const TemporaryVariable data_variable("SACCADE_DATA", nullptr);
  const TemporaryVariable cache_variable("XDG_CACHE_HOME", nullptr);
  const TemporaryVariable home_variable("HOME", home.path.c_str());
  check_contains(load_fault({.source = "fashion"}),
                 {(home.path / ".cache/saccade/fashion").string(), "$SACCADE_DATA", "not set"});
}

TEST_CASE("a bad data configuration is refused") {
  check_contains(load_fault({.source = "mnits"}),
                 {"data.source", "mnits", "mnist, fashion, kmnist, idx, folder, synthetic"});
  check_contains(load_fault({.source = "idx"}), {"idx", "data.path", "synthetic"});
  check_contains(load_fault({.source = "folder"}), {"folder", "data.path", "synthetic"});
  check_contains(load_fault({.source = "synthetic", .path = "x"}), {"data.path", "x", "synthetic"});
  check_contains(load_fault({.source = "folder", .path = "x", .size = -1}), {"data.size", "-1"});
  check_contains(load_fault({.source = "synthetic", .size = 20}), {"data.size", "20", "folder"});
}

TEST_CASE("MNIST is as published") {
  if (std::getenv("SACCADE_DATA") == nullptr) {
    MESSAGE("skipped: 'MNIST is as published' needs the files in $SACCADE_DATA/mnist");
    return;
  }
  const Digits digits = load_digits({.source = "mnist"});
  CHECK(digits.train.size() == 55000);
  CHECK(digits.valid.size() == 5000);
  CHECK(digits.test.size() == 10000);
  CHECK(digits.train.images.shape() == std::array<std::size_t, 4>{55000, 28, 28, 1});
  CHECK(digits.train.classes == 10);
  CHECK(digits.class_names[7] == "7");
  CHECK(digits.train.labels(0) == 5);
  CHECK(digits.test.labels(0) == 7);
  const auto& labels = digits.test.labels;
  CHECK(std::count(labels.begin(), labels.end(), 0) == 980);
  CHECK(digits.checksums.at("t10k-images-idx3-ubyte") == "91373bdf");
}

/// The share of test digits whose nearest class mean is that of their class.
double nearest_mean_accuracy(const DigitSet& train, const DigitSet& test) {
  const int pixels = train.rows() * train.cols();
  std::vector<double> mean(static_cast<std::size_t>(10 * pixels)), count(10);
  for (int i = 0; i < train.size(); ++i) {
    ++count[train.labels(i)];
    for (int p = 0; p < pixels; ++p)
      mean[train.labels(i) * pixels + p] += train.images.data()[i * pixels + p];
  }
  int right = 0;
  for (int i = 0; i < test.size(); ++i) {
    int nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (int label = 0; label < 10; ++label) {
      double distance = 0;
      for (int p = 0; p < pixels; ++p) {
        const double d =
            test.images.data()[i * pixels + p] - mean[label * pixels + p] / count[label];
        distance += d * d;
      }
      if (distance < least) {
        least = distance;
        nearest = label;
      }
    }
    right += nearest == test.labels(i) ? 1 : 0;
  }
  return static_cast<double>(right) / test.size();
}

TEST_CASE("synthetic digits are balanced, visible, centred and of ten kinds") {
  const RawDigits digits = draw_synthetic(2000, 1000, 7);
  CHECK(digits.train.images.shape() == std::array<std::size_t, 4>{2000, 28, 28, 1});
  CHECK(digits.class_names.size() == 10);
  const auto& labels = digits.train.labels;
  for (int label = 0; label < 10; ++label)
    CHECK(std::count(labels.begin(), labels.end(), label) == 200);
  CHECK_FALSE(std::is_sorted(labels.begin(), labels.end()));

  for (int i = 0; i < digits.test.size(); ++i) {
    double ink = 0, row_sum = 0, col_sum = 0, brightest = 0;
    for (int row = 0; row < 28; ++row)
      for (int col = 0; col < 28; ++col) {
        const double pixel = digits.test.images(i, row, col, 0);
        ink += pixel;
        row_sum += row * pixel;
        col_sum += col * pixel;
        brightest = std::max(brightest, pixel);
      }
    CAPTURE(i);
    CHECK(brightest > 100);
    CHECK(ink / 255 > 12);  // pixels
    CHECK(ink / 255 < 300);
    CHECK(std::abs(row_sum / ink - 13.5) < 1.6);
    CHECK(std::abs(col_sum / ink - 13.5) < 1.6);
  }
  const double accuracy = nearest_mean_accuracy(digits.train, digits.test);
  CHECK(accuracy > 0.70);
  CHECK(accuracy < 0.93);
}

TEST_CASE("synthetic digits depend on the seed and on nothing else") {
  const RawDigits digits = draw_synthetic(600, 300, 3);
  const RawDigits again = draw_synthetic(600, 300, 3);
  CHECK(again.train.images == digits.train.images);
  CHECK(again.train.labels == digits.train.labels);
  CHECK(again.test.images == digits.test.images);

  const RawDigits other = draw_synthetic(600, 300, 4);
  CHECK(other.train.images != digits.train.images);
  CHECK(other.train.labels != digits.train.labels);
  CHECK(xt::view(digits.train.labels, xt::range(0, 300)) != digits.test.labels);

  const Workers one(1);  // allows no second thread while it lives
  const RawDigits serial = draw_synthetic(600, 300, 3);
  CHECK(serial.train.images == digits.train.images);
  CHECK(serial.test.labels == digits.test.labels);
}

TEST_CASE("data.source=synthetic needs no files") {
  const Digits digits = load_digits({.source = "synthetic"});
  CHECK(digits.train.size() == 20000);
  CHECK(digits.valid.size() == 4000);
  CHECK(digits.test.size() == 10000);
  CHECK(digits.checksums.at("test").size() == 8);
}

}  // namespace
}  // namespace saccade
