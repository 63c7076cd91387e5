#include "env/image_cache.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <opencv2/imgcodecs.hpp>

#include "tests/env/digit_files.h"
#include "tests/special_files.h"

namespace saccade {
namespace {

/// 12 images of 5 x 4 pixels in each of two classes, with a cache; image `i` of class b has grey
/// 100 + i, of class a 50 + i.
struct KeptImages {
  KeptImages() {
    for (const char* label : {"a", "b"})
      for (int i = 0; i < 12; ++i) write_image(image(label, i), (*label == 'a' ? 50 : 100) + i);
  }

  fs::path image(const std::string& label, int i) const {
    return images.path / label / fmt::format("{}.png", i);
  }
  void write_image(const fs::path& path, int grey) const {
    fs::create_directories(path.parent_path());
    REQUIRE(cv::imwrite(path.string(), cv::Mat(5, 4, CV_8UC1, cv::Scalar(grey))));
  }
  /// Changes the content while keeping the file's size and time.
  void change_secretly(const fs::path& path, int grey) const {
    const auto time = fs::last_write_time(path);
    const auto size = fs::file_size(path);
    write_image(path, grey);
    REQUIRE(fs::file_size(path) == size);
    fs::last_write_time(path, time);
  }
  RawDatasets read(int size = 0) const { return read_folder(images.path, size, cache_path); }
  /// Returns whether there is an image with this grey.
  static bool has(const RawDatasets& digits, int grey) {
    return std::ranges::count(digits.train.images, grey) +
               std::ranges::count(digits.test.images, grey) >
           0;
  }
  /// The files of the cache: of one folder and size, the images of both sets and the key.
  std::vector<fs::path> kept() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(cache_path)) files.push_back(entry.path());
    REQUIRE(files.size() == 3);
    return files;
  }

  TemporaryFolder images, cache;
  fs::path cache_path = cache.path / "folders";
};

void check_same(const RawDatasets& one, const RawDatasets& other) {
  CHECK(one.train.images == other.train.images);
  CHECK(one.train.labels == other.train.labels);
  CHECK(one.train.classes == other.train.classes);
  CHECK(one.test.images == other.test.images);
  CHECK(one.test.labels == other.test.labels);
  CHECK(one.test.classes == other.test.classes);
  CHECK(one.class_names == other.class_names);
}

TEST_CASE("image cache: decoded images are kept and reused while no file has changed") {
  const KeptImages folder;
  const RawDatasets first = folder.read();
  check_same(first, read_folder(folder.images.path, 0));
  folder.change_secretly(folder.image("a", 3), 200);
  check_same(folder.read(), first);  // from the cache
  CHECK_FALSE(KeptImages::has(first, 200));
  CHECK(KeptImages::has(read_folder(folder.images.path, 0), 200));
  folder.kept();
}

TEST_CASE("image cache: images are decoded again when a file is changed, added or removed") {
  const KeptImages folder;
  folder.read();
  folder.change_secretly(folder.image("a", 3), 200);
  REQUIRE_FALSE(KeptImages::has(folder.read(), 200));
  SUBCASE("touched") {
    fs::last_write_time(folder.image("b", 7),
                        fs::last_write_time(folder.image("b", 7)) + std::chrono::nanoseconds(1000));
  }
  SUBCASE("of another size") {
    const auto time = fs::last_write_time(folder.image("b", 7));
    std::ofstream(folder.image("b", 7), std::ios::app) << "more";
    fs::last_write_time(folder.image("b", 7), time);
  }
  SUBCASE("come") { folder.write_image(folder.image("b", 12), 112); }
  SUBCASE("gone") { fs::remove(folder.image("b", 7)); }
  SUBCASE("renamed") { fs::rename(folder.image("b", 7), folder.image("b", 70)); }
  SUBCASE("in another class") { fs::rename(folder.image("b", 7), folder.image("a", 70)); }
  const RawDatasets again = folder.read();
  CHECK(KeptImages::has(again, 200));
  check_same(again, read_folder(folder.images.path, 0));
  folder.change_secretly(folder.image("a", 3), 210);
  check_same(folder.read(), again);  // the cache holds the new files
  folder.kept();
}

TEST_CASE("image cache: each folder and size has its own cache") {
  const KeptImages folder;
  CHECK(folder.read(0).train.rows() == 5);
  CHECK(folder.read(6).train.rows() == 6);
  CHECK(folder.read(0).train.rows() == 5);
  const TemporaryFolder copy;
  fs::copy(folder.images.path, copy.path / "images", fs::copy_options::recursive);
  read_folder(copy.path / "images", 0, folder.cache_path);
  CHECK(std::distance(fs::directory_iterator(folder.cache_path), fs::directory_iterator()) == 9);
  folder.change_secretly(folder.image("a", 3), 200);
  CHECK_FALSE(KeptImages::has(folder.read(0), 200));
  // However its path is written.
  CHECK_FALSE(KeptImages::has(
      read_folder(folder.images.path / ".." / folder.images.path.filename(), 0, folder.cache_path),
      200));
}

TEST_CASE("image cache: a damaged cache is ignored") {
  const KeptImages folder;
  const RawDatasets first = folder.read();
  folder.change_secretly(folder.image("a", 3), 200);
  REQUIRE_FALSE(KeptImages::has(folder.read(), 200));
  const RawDatasets now = read_folder(folder.images.path, 0);
  for (const fs::path& kept : folder.kept()) {
    CAPTURE(kept);
    std::ifstream file(kept, std::ios::binary);
    const Bytes whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto check_none = [&](const Bytes& bytes) {
      write(kept, bytes);
      check_same(folder.read(), now);
      CHECK(fs::file_size(kept) == whole.size());  // rewritten
    };
    for (std::size_t at = 0; at < whole.size(); at += 37) {
      CAPTURE(at);
      Bytes bytes = whole;
      bytes[at] ^= 0x80;
      check_none(bytes);
    }
    for (const std::size_t size :
         {whole.size() - 1, whole.size() / 2, std::size_t{9}, std::size_t{0}})
      check_none(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    Bytes longer = whole;
    longer.push_back(0);
    check_none(longer);
  }
}

TEST_CASE("image cache: images of another folder are ignored, although they are intact") {
  const KeptImages folder, other;
  const RawDatasets first = folder.read();
  other.change_secretly(other.image("a", 3), 200);
  other.read();
  for (const char* suffix : {"-train.idx", "-test.idx"}) {
    const auto of = [&](const KeptImages& one) {
      for (const fs::path& path : one.kept())
        if (path.string().ends_with(suffix)) return path;
      return fs::path();
    };
    fs::copy_file(of(other), of(folder), fs::copy_options::overwrite_existing);
    check_same(folder.read(), first);
  }
}

TEST_CASE("image cache: a pipe in its place is ignored and replaced") {
  const KeptImages kept;
  const RawDatasets digits = kept.read();
  for (const fs::path& path : kept.kept()) {
    fs::remove(path);
    {
      const EmptyPipe pipe(path);
      check_same(kept.read(), digits);
      CHECK(fs::is_regular_file(path));
    }
    check_same(kept.read(), digits);
  }
}

TEST_CASE("image cache: images are read even if no cache can be written or read") {
  KeptImages folder;
  const RawDatasets plain = read_folder(folder.images.path, 0);
  write(folder.cache.path / "file", {1});
  folder.cache_path = folder.cache.path / "file" / "folders";
  check_same(folder.read(), plain);
  folder.cache_path = folder.cache.path / "folders";
  folder.read();
  for (const fs::path& kept : folder.kept()) {
    fs::remove(kept);
    fs::create_directory(kept);  // where the cache would be
    check_same(folder.read(), plain);
    CHECK(fs::is_directory(kept));
  }
}

TEST_CASE("image cache: data.source=folder keeps its images in the cache folder") {
  const KeptImages folder;
  const TemporaryVariable cache("XDG_CACHE_HOME", folder.cache.path.c_str());
  const DataConfig config{.source = "folder", .path = folder.images.path.string()};
  const Digits digits = load_digits(config);
  CHECK(fs::exists(folder.cache.path / "saccade" / "folders"));
  CHECK(load_digits(config).checksums == digits.checksums);
  CHECK(load_digits(config).class_names == digits.class_names);
}

}  // namespace
}  // namespace saccade
