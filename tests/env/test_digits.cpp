#include "env/digits.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <opencv2/imgcodecs.hpp>

#include "base/name_table.h"
#include "tests/check_contains.h"
#include "tests/env/digit_files.h"
#include "tests/env/photo_files.h"

namespace saccade {
namespace {

TEST_CASE("the last sixth of the training digits are for validation") {
  IdxFolder folder;
  const Digits digits = load_digits({.source = "idx", .path = folder.path.string()});
  const RawDatasets raw = read_idx(folder.path, {});
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

TEST_CASE("with many training digits, validation uses the last 5000") {
  IdxFolder folder;
  write(folder.path / kIdxFiles[0], idx_bytes(0x803, {31000, 3, 2}));
  write(folder.path / kIdxFiles[1], idx_bytes(0x801, {31000}, 0, 3));
  const Digits digits = load_digits({.source = "idx", .path = folder.path.string()});
  CHECK(digits.train.size() == 26000);
  CHECK(digits.valid.size() == 5000);
  CHECK(digits.valid.labels(0) == 26000 % 3);
}

TEST_CASE("files are searched for in data.path, SACCADE_DATA and the cache") {
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

  check_contains(load_fault({.source = "emnist"}),
                 {(data.path / "emnist").string(), "plain or as .gz", kEmnistFiles[3]});
  check_contains(load_fault({.source = "svhn"}),
                 {(cache.path / "saccade/svhn").string(), kSvhnFiles[0], kSvhnFiles[1],
                  "`saccade data svhn` downloads them"});
  check_contains(load_fault({.source = "cifar10"}), {kCifar10Files[0], kCifar10Files[5]});
  fs::create_directories(data.path / "cifar10");
  write_cifar10(data.path / "cifar10", 3);
  CHECK(load_digits({.source = "cifar10"}).test.size() == 3);

  write(good.path / kIdxFiles[1], idx_bytes(0x801, {12}, 0, 10));
  fs::copy(good.path, data.path / "kmnist");
  CHECK(load_digits({.source = "kmnist"}).class_names[2] == "su");
}

TEST_CASE("the home folder is searched last") {
  TemporaryFolder home;
  const TemporaryVariable data_variable("SACCADE_DATA", nullptr);
  const TemporaryVariable cache_variable("XDG_CACHE_HOME", nullptr);
  const TemporaryVariable home_variable("HOME", home.path.c_str());
  check_contains(load_fault({.source = "fashion"}),
                 {(home.path / ".cache/saccade/fashion").string(), "$SACCADE_DATA", "not set"});
}

void check_set(const Dataset& set, const Digits& digits) {
  REQUIRE(set.size() > 0);
  CHECK(set.rows() > 0);
  CHECK(set.cols() > 0);
  CHECK((set.channels() == 1 || set.channels() == 3));
  CHECK(set.labels.size() == set.images.shape()[0]);
  CHECK(set.classes == static_cast<int>(digits.class_names.size()));
  CHECK(set.rows() == digits.train.rows());
  CHECK(set.cols() == digits.train.cols());
  CHECK(std::ranges::min(set.labels) >= 0);
  CHECK(std::ranges::max(set.labels) < set.classes);
  CHECK(std::ranges::max(set.images) > std::ranges::min(set.images));
}

// 12 and 10 images of 3 x 2 pixels, in the orientation of the files.
void write_emnist(const fs::path& folder) {
  write(folder / kEmnistFiles[0], idx_bytes(0x803, {12, 3, 2}));
  write(folder / kEmnistFiles[1], idx_bytes(0x801, {12}, 0, 10));
  write(folder / kEmnistFiles[2], idx_bytes(0x803, {10, 3, 2}, 100));
  write(folder / kEmnistFiles[3], idx_bytes(0x801, {10}, 0, 10));
}

TEST_CASE("EMNIST's digits are transposed upright") {
  const TemporaryFolder folder;
  write_emnist(folder.path);
  const Digits digits = load_digits({.source = "emnist", .path = folder.path.string()});
  CHECK(digits.train.images.shape() == std::array<std::size_t, 4>{10, 2, 3, 1});
  // The pixels of an image count up along the rows of the file.
  CHECK(digits.train.images(0, 1, 0, 0) == 1);
  CHECK(digits.train.images(0, 0, 1, 0) == 2);
  CHECK(digits.train.images(1, 1, 2, 0) == 6 + 5);
  CHECK(digits.test.images(0, 0, 2, 0) == 104);
  CHECK(digits.class_names[9] == "9");

  write(folder.path / kEmnistFiles[1], idx_bytes(0x801, {12}, 0, 3));
  write(folder.path / kEmnistFiles[3], idx_bytes(0x801, {10}, 0, 3));
  check_contains(load_fault({.source = "emnist", .path = folder.path.string()}),
                 {folder.path.string(), "10 classes", "have 3"});
  fs::remove(folder.path / kEmnistFiles[2]);
  check_contains(load_fault({.source = "emnist", .path = folder.path.string()}),
                 {(folder.path / kEmnistFiles[2]).string(), "missing"});
}

// Files for a source; fails for a source that reads files and is missing here.
std::unique_ptr<TemporaryFolder> sample_files(const std::string& source) {
  if (source == "folder") {
    auto folder = std::make_unique<TemporaryFolder>();
    for (const std::string label : {"a", "b"})
      for (int i = 0; i < 12; ++i) {
        fs::create_directories(folder->path / label);
        REQUIRE(cv::imwrite((folder->path / label / fmt::format("{}.png", i)).string(),
                            cv::Mat(5, 4, CV_8UC1, cv::Scalar(20.0 * i))));
      }
    return folder;
  }
  if (source == "svhn" || source == "cifar10") {
    auto folder = std::make_unique<TemporaryFolder>();
    source == "svhn" ? write_svhn(folder->path, 12) : write_cifar10(folder->path, 3);
    return folder;
  }
  if (source == "emnist") {
    auto folder = std::make_unique<TemporaryFolder>();
    write_emnist(folder->path);
    return folder;
  }
  const bool ten = source == "fashion" || source == "kmnist";
  REQUIRE_MESSAGE((source == "idx" || ten), "no files for " << source);
  auto folder = std::make_unique<IdxFolder>();
  if (ten) {
    write(folder->path / kIdxFiles[1], idx_bytes(0x801, {12}, 0, 10));
    write(folder->path / kIdxFiles[3], idx_bytes(0x801, {4}, 6, 10));
  }
  return folder;
}

TEST_CASE("every source returns labelled images of one size, the same each time") {
  const TemporaryFolder cache;  // not the user's
  const TemporaryVariable cache_variable("XDG_CACHE_HOME", cache.path.c_str());
  for (const std::string& source : digit_sources()) {
    if (source == "mnist") continue;  // its files cannot be made up: see "MNIST is as published"
    CAPTURE(source);
    DataConfig config{.source = source};
    std::unique_ptr<TemporaryFolder> files;
    if (digits_come_from_files(source)) {
      files = sample_files(source);
      config.path = files->path.string();
    }
    const Digits digits = load_digits(config);
    for (const Dataset* set : {&digits.train, &digits.valid, &digits.test}) check_set(*set, digits);
    CHECK_FALSE(digits.checksums.empty());
    CHECK(load_digits(config).checksums == digits.checksums);
  }
}

TEST_CASE("a bad data configuration is refused") {
  check_contains(load_fault({.source = "mnits"}), {"data.source", "mnits", join(digit_sources())});
  for (const std::string source : {"idx", "folder"})
    CHECK(load_fault({.source = source}) ==
          "data.path: null, but data.source: " + source +
              " needs the folder to read; synthetic needs no files");
  CHECK(load_fault({.source = "folder", .path = "x", .size = -1}) ==
        "data.size: -1 pixels; allowed: 0, which keeps the size of the images, and more");
}

TEST_CASE("the names of classes are checked, of every source") {
  const auto fault = [](const Names& names) {
    return message_of<InputError>([&] { check_class_names(names, "here"); });
  };
  CHECK(fault({}) == "nothing thrown");
  CHECK(fault({"a", "b c", "caf\xc3\xa9"}) == "nothing thrown");
  for (const auto& [name, shown] : {std::pair<std::string, std::string>{"", ""},
                                    {"a", "a"},
                                    {"\xff", "\\xff"},
                                    {"b\n", "(control characters)"},
                                    {"\x7f", "(control characters)"}})
    CHECK(fault({"a", name}) == "here: the name of a class is '" + shown +
                                    "'; allowed: names that differ, each a line of UTF-8");

  const auto files = sample_files("cifar10");
  std::string text;
  for (int label = 0; label < 10; ++label) text += label < 9 ? fmt::format("{}\n", label) : "0\n";
  write(files->path / "batches.meta.txt", Bytes(text.begin(), text.end()));
  check_contains(load_fault({.source = "cifar10", .path = files->path.string()}),
                 {files->path.string(), "the name of a class is '0'"});
}

TEST_CASE("images with sides that no int holds the sums of are refused") {
  const IdxFolder folder;
  for (const int i : {0, 2}) {
    const std::uint32_t count = i == 0 ? 12 : 4;
    write(folder.path / kIdxFiles[i], idx_bytes(0x803, {count, 65537, 1}));
  }
  CHECK(load_fault({.source = "idx", .path = folder.path.string()}) ==
        "data.source=idx has images of 65537 x 1 pixels; allowed: at most 65536 rows and columns");
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

}  // namespace
}  // namespace saccade
