#include "env/digits.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <iterator>
#include <opencv2/imgcodecs.hpp>
#include <set>

#include "tests/check_contains.h"
#include "tests/env/digit_files.h"
#include "tests/support.h"

namespace saccade {
namespace {

void write_image(const fs::path& path, const cv::Mat& pixels) {
  fs::create_directories(path.parent_path());
  REQUIRE(cv::imwrite(path.string(), pixels));
}

/// Writes `count` grey 5 x 4 images per class, filled with 40 * (1 + label) + index.
void write_classes(const fs::path& folder, const Names& classes, int count) {
  for (std::size_t label = 0; label < classes.size(); ++label)
    for (int i = 0; i < count; ++i)
      write_image(folder / classes[label] / fmt::format("{}.png", i),
                  cv::Mat(5, 4, CV_8UC1, cv::Scalar(40.0 * static_cast<double>(1 + label) + i)));
}

/// Overwrites bytes at an offset of a file.
void set_bytes(const fs::path& path, std::size_t place, const Bytes& bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(place));
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

/// Inserts bytes at an offset of a file.
void insert_bytes(const fs::path& path, std::size_t place, const Bytes& more) {
  std::string bytes = bytes_of(path);
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(place), more.begin(), more.end());
  write(path, Bytes(bytes.begin(), bytes.end()));
}

/// Offset of the size in a JPEG file.
std::size_t frame_of(const fs::path& path) { return bytes_of(path).find("\xff\xc0"); }

std::string folder_fault(const fs::path& folder, int size = 0) {
  return message_of<InputError>([&] { read_folder(folder, size); });
}

TEST_CASE("an image folder is read by class") {
  TemporaryFolder folder;
  write_classes(folder.path, {"cat", "ant", "bee"}, 12);
  write(folder.path / "notes.txt", {1});
  write(folder.path / "ant" / ".hidden.png", {1});
  const RawDatasets digits = read_folder(folder.path, 0);
  CHECK(digits.class_names == Names{"ant", "bee", "cat"});
  CHECK(digits.train.size() == 30);
  CHECK(digits.test.size() == 6);
  CHECK(digits.test.classes == 3);
  CHECK(digits.train.images.shape() == std::array<std::size_t, 4>{30, 5, 4, 1});

  const std::array first{80, 120, 40};  // ant, bee, cat as written
  std::set<int> seen;                   // every image is in exactly one set
  for (const Dataset* set : {&digits.train, &digits.test})
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

TEST_CASE("an image folder's class names must be UTF-8") {
  TemporaryFolder folder;
  write_classes(folder.path, {"caf\xc3\xa9", "th\xe9"}, 12);
  const TemporaryFolder cache;  // not the user's
  const TemporaryVariable cache_variable("XDG_CACHE_HOME", cache.path.c_str());
  const auto fault = [&] { return load_fault({.source = "folder", .path = folder.path.string()}); };
  CHECK(fault() == folder.path.string() +
                       ": the name of a class is 'th\\xe9'; allowed: names that differ, each a "
                       "line of UTF-8");
  fs::rename(folder.path / "th\xe9", folder.path / "th\n");
  check_contains(fault(), {folder.path.string(), "'(control characters)'"});
  fs::rename(folder.path / "th\n", folder.path / "th\xe9");
  fs::rename(folder.path / "th\xe9", folder.path / "th\xc3\xa9");
  CHECK(read_folder(folder.path, 0).class_names == Names{"caf\xc3\xa9", "th\xc3\xa9"});
}

TEST_CASE("an image folder may have its own test images") {
  TemporaryFolder folder;
  write_classes(folder.path / "train", {"a", "b"}, 5);
  write_classes(folder.path / "test", {"a", "b"}, 2);
  const RawDatasets digits = read_folder(folder.path, 0);
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
  const RawDatasets digits = read_folder(folder.path, 6);
  std::multiset<std::array<int, 3>> colours;
  for (const Dataset* set : {&digits.train, &digits.test}) {
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

TEST_CASE("fill bytes between the segments of a JPEG file are skipped") {
  TemporaryFolder folder;
  write_classes(folder.path, {"a", "b"}, 3);
  const fs::path jpeg = folder.path / "a" / "0.jpg";
  write_image(jpeg, cv::Mat(5, 4, CV_8UC1, cv::Scalar(0)));
  insert_bytes(jpeg, frame_of(jpeg), {0xff, 0xff, 0xff});
  CHECK_NOTHROW(read_folder(folder.path, 0));
}

TEST_CASE("a bad image folder is reported with its fault") {
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
    check_contains(folder_fault(folder.path), {"page.jpg", "neither PNG nor JPEG"});
  }
  SUBCASE("another image format under the name of one that is read") {
    write_classes(folder.path, {"a", "b"}, 3);
    write_image(folder.path / "x.bmp", cv::Mat(5, 4, CV_8UC1, cv::Scalar(0)));
    fs::rename(folder.path / "x.bmp", folder.path / "b" / "x.png");
    check_contains(folder_fault(folder.path), {"x.png", "neither PNG nor JPEG"});
  }
  SUBCASE("an image that is broken") {
    write_classes(folder.path, {"a", "b"}, 3);
    fs::resize_file(folder.path / "a" / "1.png", 20);
    check_contains(folder_fault(folder.path), {"1.png", "cannot be decoded"});
  }
  SUBCASE("a pipe") {
    write_classes(folder.path, {"a", "b"}, 3);
    REQUIRE(mkfifo((folder.path / "a" / "pipe.png").c_str(), 0600) == 0);
    check_contains(folder_fault(folder.path), {"pipe.png", "not a regular file"});
  }
  SUBCASE("an image that says that it is a huge one") {
    write_classes(folder.path, {"a", "b"}, 3);
    const fs::path png = folder.path / "a" / "1.png", jpeg = folder.path / "a" / "0.jpg";
    Bytes header = {'I', 'H', 'D', 'R', 0, 0, 0xff, 0xff, 0, 1, 0, 0, 8, 0, 0, 0, 0};
    const auto crc = static_cast<std::uint32_t>(crc32(0, header.data(), 17));
    for (const int shift : {24, 16, 8, 0})
      header.push_back(static_cast<std::uint8_t>(crc >> shift));
    set_bytes(png, 12, header);  // after signature and length
    check_contains(folder_fault(folder.path), {"1.png", "4294901760 pixels", "67108864"});
    fs::remove(png);
    write_image(jpeg, cv::Mat(5, 4, CV_8UC1, cv::Scalar(0)));
    set_bytes(jpeg, frame_of(jpeg) + 5, {0xff, 0xff, 0x80, 0});  // height and width
    check_contains(folder_fault(folder.path), {"0.jpg", "2147450880 pixels"});
    insert_bytes(jpeg, 2, {0xff, 0xe0, 0, 0});  // an empty segment, which decoders tolerate
    check_contains(folder_fault(folder.path), {"0.jpg", "2147450880 pixels"});
  }
  SUBCASE("sizes that differ") {
    write_classes(folder.path, {"a", "b"}, 3);
    write_image(folder.path / "b" / "wide.png", cv::Mat(5, 9, CV_8UC1, cv::Scalar(0)));
    check_contains(folder_fault(folder.path), {"wide.png", "5 x 9", "5 x 4", "data.size"});
  }
}

}  // namespace
}  // namespace saccade
