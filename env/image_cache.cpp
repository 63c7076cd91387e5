#include "env/image_cache.h"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "base/checksum.h"
#include "base/input_file.h"
#include "base/output.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// File format: the mark, the length of the key, the key, a Shape of the training images and one of
// the test images, labels and pixels of both, and the CRC-32 of all of it.
constexpr std::array<char, 8> kMark = {'s', 'a', 'c', 'c', 'i', 'm', 'g', '1'};
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 42;

struct Shape {
  std::array<std::uint64_t, 4> sides;  // images, rows, cols, channels
  std::uint64_t classes;

  std::uint64_t pixels() const { return sides[0] * sides[1] * sides[2] * sides[3]; }
  std::uint64_t bytes() const { return pixels() + sides[0] * sizeof(int); }
  // Rejects damaged sides, whose product would overflow.
  bool sane() const {
    double product = 1.0;
    for (const std::uint64_t side : sides) product *= static_cast<double>(side);
    return product > 0.0 && product < static_cast<double>(kMostBytes);
  }
};

/// Writes bytes and adds them to the checksum.
class CheckedOut {
 public:
  explicit CheckedOut(const fs::path& path) : file_(path) {}

  void put(const void* data, std::size_t size) {
    crc_.add(data, size);
    file_.append({static_cast<const char*>(data), size});
  }
  void finish() {
    const std::uint32_t crc = crc_.value();
    put(&crc, sizeof crc);
  }

 private:
  AppendedFile file_;
  Crc32 crc_;
};

/// Reads bytes and adds them to the checksum.
class CheckedIn {
 public:
  explicit CheckedIn(std::istream& file) : file_(file) {}

  bool get(void* data, std::size_t size) {
    file_.read(static_cast<char*>(data), static_cast<std::streamsize>(size));
    if (!file_) return false;
    crc_.add(data, size);
    return true;
  }
  bool finish() {
    const std::uint32_t crc = crc_.value();
    std::uint32_t kept = 0;
    return get(&kept, sizeof kept) && kept == crc;
  }

 private:
  std::istream& file_;
  Crc32 crc_;
};

// Returns null if the file cannot be read: the images are then decoded again.
std::unique_ptr<InputFile> open_if_readable(const fs::path& path) {
  try {
    return InputFile::if_there(path);
  } catch (const std::runtime_error&) {
    return nullptr;
  }
}

void put_set(CheckedOut& out, const Dataset& set) {
  out.put(set.labels.data(), set.labels.size() * sizeof(int));
  out.put(set.images.data(), set.images.size());
}

bool get_set(CheckedIn& in, const Shape& shape, Dataset& set) {
  set.classes = static_cast<int>(shape.classes);
  set.labels.resize({shape.sides[0]});
  set.images.resize(shape.sides);
  return in.get(set.labels.data(), set.labels.size() * sizeof(int)) &&
         in.get(set.images.data(), set.images.size());
}

Shape shape_of(const Dataset& set) {
  Shape shape{};
  std::ranges::copy(set.images.shape(), shape.sides.begin());
  shape.classes = static_cast<std::uint64_t>(set.classes);
  return shape;
}

}  // namespace

ImageCache::ImageCache(const fs::path& cache, const std::string& source, std::string key)
    : key_(source + '\n' + std::move(key)) {
  if (cache.empty()) return;
  path_ = cache / (crc32_of(source.data(), source.size()).hex() + ".images");
}

std::optional<RawDatasets> ImageCache::read() const {
  if (path_.empty()) return {};
  const std::unique_ptr<InputFile> file = open_if_readable(path_);
  if (!file) return {};
  const std::uint64_t size = file->size();
  CheckedIn in(*file);
  std::array<char, kMark.size()> mark{};
  std::uint64_t key_size = 0;
  if (!in.get(mark.data(), mark.size()) || mark != kMark) return {};
  if (!in.get(&key_size, sizeof key_size) || key_size != key_.size()) return {};
  std::string key(key_size, '\0');
  std::array<Shape, 2> shapes{};
  if (!in.get(key.data(), key.size()) || key != key_) return {};
  if (!in.get(shapes.data(), sizeof shapes) || !shapes[0].sane() || !shapes[1].sane()) return {};
  const std::uint64_t head = mark.size() + sizeof key_size + key.size() + sizeof shapes;
  if (size != head + shapes[0].bytes() + shapes[1].bytes() + sizeof(std::uint32_t)) return {};
  RawDatasets digits;
  if (!get_set(in, shapes[0], digits.train) || !get_set(in, shapes[1], digits.test)) return {};
  if (!in.finish()) return {};
  return digits;
}

void ImageCache::write(const RawDatasets& digits) const {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::create_directories(path_.parent_path(), ignored);
  try {
    OutputFile file(path_, /*force=*/true);
    CheckedOut out(file.path());
    out.put(kMark.data(), kMark.size());
    const std::uint64_t key_size = key_.size();
    out.put(&key_size, sizeof key_size);
    out.put(key_.data(), key_.size());
    const std::array<Shape, 2> shapes = {shape_of(digits.train), shape_of(digits.test)};
    out.put(shapes.data(), sizeof shapes);
    put_set(out, digits.train);
    put_set(out, digits.test);
    out.finish();
    file.commit();
  } catch (const std::runtime_error&) {  // no space or permission: they are decoded again next time
  }
}

}  // namespace saccade
