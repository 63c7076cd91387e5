#include "env/mat_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <istream>
#include <new>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "env/open_file.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "the files that are read are, too");

constexpr std::uint64_t kHeader = 128, kTag = 8;

// Types of elements, and of the values in them.
enum Type : std::uint32_t {
  kInt8 = 1,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kSingle,
  kDouble = 9,
  kMatrix = 14,
  kCompressed = 15
};

struct Tag {
  std::uint32_t type = 0;
  std::uint32_t size = 0;  // bytes that follow
};

[[noreturn]] void fail(const std::string& fault) { throw InputError(fault); }

/// Reads the bytes of one element sequentially, decompressing if needed.
class ElementBytes {
 public:
  ElementBytes(std::istream& file, const Tag& tag)
      : file_(file), packed_left_(tag.size), packed_(tag.type == kCompressed) {
    if (packed_ && inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
  }
  ~ElementBytes() {
    if (packed_) inflateEnd(&stream_);
  }
  ElementBytes(const ElementBytes&) = delete;
  ElementBytes& operator=(const ElementBytes&) = delete;

  /// Upper bound of the bytes that can still follow.
  std::uint64_t most() const {
    constexpr std::uint64_t kMostRatio = 1032, kWindow = 1 << 15;  // of deflate
    return packed_ ? (packed_left_ + stream_.avail_in) * kMostRatio + kWindow : packed_left_;
  }

  void read(void* to, std::size_t size) {
    taken_ += size;
    if (!packed_) return read_file(to, size);
    stream_.next_out = static_cast<Bytef*>(to);
    for (std::size_t left = size; left > 0;) {
      if (stream_.avail_in == 0) refill();
      const auto part = static_cast<uInt>(std::min<std::size_t>(left, 1U << 30));
      stream_.avail_out = part;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      left -= part - stream_.avail_out;
      if (code != Z_OK && !(code == Z_STREAM_END && left == 0))
        fail("an element that cannot be unpacked: corrupt data, or it breaks off");
    }
  }

  template <class T>
  T read() {
    T value{};
    read(&value, sizeof value);
    return value;
  }

  /// Skips to the next multiple of 8 bytes, where a part begins.
  void align() {
    std::array<std::uint8_t, kTag> padding;
    read(padding.data(), (kTag - taken_ % kTag) % kTag);
  }

 private:
  void read_file(void* to, std::size_t size) {
    if (size > packed_left_) fail("an array that ends before its last value");
    packed_left_ -= size;
    file_.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
    if (!file_) throw_refused("cannot be read");
  }
  void refill() {  // requires packed_left_ > 0
    const std::size_t size = std::min<std::uint64_t>(block_.size(), packed_left_);
    read_file(block_.data(), size);
    stream_.next_in = block_.data();
    stream_.avail_in = static_cast<uInt>(size);
  }

  std::istream& file_;
  std::uint64_t packed_left_;  // unread bytes of the element in the file
  const bool packed_;
  std::uint64_t taken_ = 0;
  z_stream stream_{};
  std::array<Bytef, 4096> block_;
};

/// A part of an array: the type of its values and their bytes.
struct Part {
  std::uint32_t type = 0;
  std::vector<std::uint8_t> bytes;
};

/// Reads the next part, of at most `most` bytes and no more than the element has.
Part read_part(ElementBytes& element, std::uint64_t most) {
  element.align();
  const auto first = element.read<std::uint32_t>();
  Part part{.type = first & 0xffff, .bytes = {}};
  const bool is_small = first >> 16 != 0;  // then the size is in the upper half, and 4 bytes follow
  const std::uint32_t size = is_small ? first >> 16 : element.read<std::uint32_t>();
  most = std::min(most, is_small ? std::uint64_t{4} : element.most());
  if (size > most) fail(fmt::format("a part of {} bytes in an array; allowed: {}", size, most));
  part.bytes.resize(size);
  element.read(part.bytes.data(), size);
  return part;
}

std::size_t bytes_of_type(std::uint32_t type) {
  switch (type) {
    case kInt8:
    case kUint8:
      return 1;
    case kInt16:
    case kUint16:
      return 2;
    case kInt32:
    case kUint32:
    case kSingle:
      return 4;
    case kDouble:
      return 8;
    default:
      fail(fmt::format("values of type {}; allowed: numbers", type));
  }
}

template <class T>
double value_at(const std::vector<std::uint8_t>& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return static_cast<double>(value);
}

/// Reads the array of an element, with its values if its name is one of `names`.
std::optional<std::pair<std::string, MatArray>> read_array(ElementBytes& element,
                                                           std::span<const std::string> names) {
  constexpr std::uint64_t kMostName = 64, kMostAxes = 32, kFlags = 8;
  constexpr std::uint8_t kComplex = 0x08;
  const Part flags = read_part(element, kFlags);
  if (flags.bytes.size() != kFlags) fail("an array without its flags");
  const Part axes = read_part(element, kMostAxes * sizeof(std::int32_t));
  const Part letters = read_part(element, kMostName);
  const std::string name(letters.bytes.begin(), letters.bytes.end());
  if (std::ranges::find(names, name) == names.end()) return std::nullopt;

  MatArray array{.shape = {}, .value_class = MatClass{flags.bytes[0]}, .values = {}};
  if ((flags.bytes[1] & kComplex) != 0) fail(name + " is complex; allowed: real numbers");
  for (std::size_t i = 0; i < axes.bytes.size() / sizeof(std::int32_t); ++i)
    array.shape.push_back(
        static_cast<std::size_t>(std::max(0.0, value_at<std::int32_t>(axes.bytes, i))));
  Part values = read_part(element, element.most());
  array.type = values.type;
  array.values = std::move(values.bytes);
  // In floating point, so that absurd sizes cannot overflow.
  const double needed =
      std::accumulate(array.shape.begin(), array.shape.end(),
                      static_cast<double>(bytes_of_type(array.type)), std::multiplies<>());
  if (needed != static_cast<double>(array.values.size()))
    fail(fmt::format("{} is {}, but has {} bytes; needed: {:.0f}", name,
                     fmt::join(array.shape, " x "), array.values.size(), needed));
  return std::pair(name, std::move(array));
}

std::map<std::string, MatArray> read_arrays(std::istream& file, std::uint64_t file_size,
                                            std::span<const std::string> names) {
  std::map<std::string, MatArray> arrays;
  const auto tag_at = [&](std::uint64_t at) {
    Tag tag;
    file.clear();
    file.seekg(static_cast<std::streamoff>(at));
    file.read(reinterpret_cast<char*>(&tag), sizeof tag);
    if (!file || at + kTag + tag.size > file_size)
      fail(fmt::format("truncated, or no MAT file of version 5: {} bytes", file_size));
    return tag;
  };
  if (file_size < kHeader) tag_at(kHeader);
  // Scan all element headers first, so that a truncated file fails before any element is decoded.
  std::vector<std::uint64_t> places;
  for (std::uint64_t at = kHeader; at != file_size; at += kTag + tag_at(at).size)
    places.push_back(at);
  for (const std::uint64_t at : places) {
    const Tag tag = tag_at(at);
    if (tag.type != kMatrix && tag.type != kCompressed) continue;
    ElementBytes element(file, tag);
    if (tag.type == kCompressed && element.read<Tag>().type != kMatrix) continue;
    if (auto array = read_array(element, names)) arrays.insert(*std::move(array));
  }
  return arrays;
}

}  // namespace

std::size_t MatArray::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

double MatArray::value(std::size_t index) const {
  switch (type) {
    case kInt8:
      return value_at<std::int8_t>(values, index);
    case kUint8:
      return value_at<std::uint8_t>(values, index);
    case kInt16:
      return value_at<std::int16_t>(values, index);
    case kUint16:
      return value_at<std::uint16_t>(values, index);
    case kInt32:
      return value_at<std::int32_t>(values, index);
    case kUint32:
      return value_at<std::uint32_t>(values, index);
    case kSingle:
      return value_at<float>(values, index);
    default:
      return value_at<double>(values, index);
  }
}

std::map<std::string, MatArray> read_mat(const fs::path& path, std::span<const std::string> names) {
  InputFile file = open_file(path);
  try {
    return read_arrays(file, file.size(), names);
  } catch (const InputError& error) {
    throw InputError(path.string() + ": " + error.what());
  } catch (const std::runtime_error& error) {  // system errors
    throw std::runtime_error(path.string() + ": " + error.what());
  }
}

}  // namespace saccade
