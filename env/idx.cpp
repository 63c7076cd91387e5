#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <numeric>

#include "base/checksum.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/output.h"
#include "base/system_reason.h"
#include "env/digits.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// The third byte of a magic gives the type of the values (8: unsigned bytes), the fourth the number
// of dimensions.
constexpr std::uint32_t kLabels = 0x801;        // (N)
constexpr std::uint32_t kGreyImages = 0x803;    // (N, rows, cols)
constexpr std::uint32_t kColourImages = 0x804;  // (N, rows, cols, channels)

/// One IDX file in memory.
struct IdxFile {
  std::string path;
  std::vector<std::uint8_t> bytes;  // decompressed: magic, dimensions, values
  std::vector<std::size_t> shape;
  std::size_t header = 0;  // bytes before the values

  std::span<const std::uint8_t> values() const { return std::span(bytes).subspan(header); }
  [[noreturn]] void fail(const std::string& fault) const { throw InputError(path + ": " + fault); }
};

/// Returns the path of `name` in the folder or, if it does not exist, of `name`.gz.
std::string find_file(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const char* suffix : {"", ".gz"}) {
    const fs::path path = folder / (name + suffix);
    const fs::file_status status = fs::status(path, ignored);
    if (fs::exists(status) && !fs::is_directory(status)) return path.string();
  }
  throw InputError(
      fmt::format("{}: missing; needed: this file or {}.gz", (folder / name).string(), name));
}

/// Reads a file sequentially. zlib decompresses gzip files and passes others through unchanged.
class Unpacked {
 public:
  explicit Unpacked(const std::string& path) : path_(path) {
    const InputFile file(path);
    size_ = static_cast<double>(file.size());
    const int descriptor = fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) throw_refused(path + ": cannot be read");
    file_ = gzdopen(descriptor, "rb");
    if (file_ == nullptr) {
      close(descriptor);
      throw std::bad_alloc();
    }
  }
  ~Unpacked() { gzclose(file_); }
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;

  /// Appends `count` bytes, or as many as are left.
  void read(std::vector<std::uint8_t>& bytes, std::size_t count) {
    constexpr std::size_t kMostAtOnce = 1U << 30;
    const std::size_t end = bytes.size() + count;
    std::size_t size = bytes.size();
    bytes.resize(end);
    for (int got = 1; got > 0 && size < end;) {
      got = gzread(file_, bytes.data() + size,
                   static_cast<unsigned>(std::min(end - size, kMostAtOnce)));
      size += std::max(got, 0);
    }
    bytes.resize(size);
    check(size);
  }

  /// Upper bound of the decompressed size.
  double most_bytes() const {
    constexpr double kMostRatio = 1032.0;  // maximum of deflate
    return size_ * (gzdirect(file_) ? 1.0 : kMostRatio);
  }

 private:
  void check(std::size_t size) const {
    int code = Z_OK;
    gzerror(file_, &code);
    if (code == Z_BUF_ERROR)
      throw InputError(
          fmt::format("{}: truncated: the gzip stream breaks off after {} bytes", path_, size));
    if (code == Z_ERRNO) throw_refused(path_ + ": cannot be read");
    if (code != Z_OK)
      throw InputError(
          fmt::format("{}: cannot be read: corrupt gzip data after {} bytes", path_, size));
  }

  std::string path_;
  double size_;  // bytes of the file
  gzFile file_;
};

/// `allowed` lists the magics that the file may have. Checks the header against the file size
/// before allocating, and refuses a file that has bytes after the values.
IdxFile read_file(const fs::path& folder, const std::string& name,
                  const std::vector<std::uint32_t>& allowed) {
  IdxFile file;
  file.path = find_file(folder, name);
  Unpacked unpacked(file.path);
  const auto next_word = [&]() -> std::uint32_t {  // big-endian
    unpacked.read(file.bytes, 4);
    if (file.bytes.size() % 4 != 0 || file.bytes.size() == file.header)
      file.fail(fmt::format("truncated: {} bytes, not even a header", file.bytes.size()));
    const std::uint8_t* byte = file.bytes.data() + file.header;
    file.header = file.bytes.size();
    return std::uint32_t{byte[0]} << 24 | std::uint32_t{byte[1]} << 16 |
           std::uint32_t{byte[2]} << 8 | std::uint32_t{byte[3]};
  };
  const std::uint32_t magic = next_word();
  if (std::find(allowed.begin(), allowed.end(), magic) == allowed.end())
    file.fail(fmt::format("magic {:#010x} is not that of an IDX file of {}; allowed: {:#010x}",
                          magic, allowed.front() == kLabels ? "labels" : "images",
                          fmt::join(allowed, " or ")));
  for (std::size_t i = 1; i <= (magic & 0xff); ++i) file.shape.push_back(next_word());

  // In floating point, so that absurd dimensions cannot overflow.
  const double expected =
      std::accumulate(file.shape.begin(), file.shape.end(), 1.0, std::multiplies<>());
  if (expected == 0)
    file.fail(fmt::format("empty: its dimensions are {}", fmt::join(file.shape, " x ")));
  const double most = unpacked.most_bytes();
  if (expected <= most) unpacked.read(file.bytes, static_cast<std::size_t>(expected) + 1);
  const double found = static_cast<double>(file.values().size());
  if (expected > most || expected != found)
    file.fail(fmt::format("{}: dimensions {} need {:.0f} bytes after the header, found {}",
                          found > expected ? "trailing bytes" : "truncated",
                          fmt::join(file.shape, " x "), expected,
                          found > expected   ? "more"
                          : expected <= most ? fmt::format("{:.0f}", found)
                                             : fmt::format("at most {:.0f}", most)));
  return file;
}

/// Returns the images, (N, rows, cols, channels).
IdxFile read_images(const fs::path& folder, const std::string& name) {
  IdxFile file = read_file(folder, name, {kGreyImages, kColourImages});
  if (file.shape.size() == 3) file.shape.push_back(1);
  if (file.shape[3] != 1 && file.shape[3] != 3)
    file.fail(fmt::format("{} channels; allowed: 1 or 3", file.shape[3]));
  return file;
}

void copy_images(const IdxFile& file, Dataset& set) {
  set.images.resize({file.shape[0], file.shape[1], file.shape[2], file.shape[3]});
  std::copy(file.values().begin(), file.values().end(), set.images.begin());
}

/// Combines an image file and a label file into a dataset.
Dataset pair_up(const IdxFile& images, const IdxFile& labels) {
  if (images.shape[0] != labels.shape[0])
    throw InputError(fmt::format("{} holds {} images, but {} holds {} labels; allowed: one each",
                                 images.path, images.shape[0], labels.path, labels.shape[0]));
  Dataset set;
  copy_images(images, set);
  set.labels.resize({labels.shape[0]});
  std::copy(labels.values().begin(), labels.values().end(), set.labels.begin());
  return set;
}

std::string image_size(const Dataset& set) {
  return fmt::format("{} x {} x {}", set.rows(), set.cols(), set.channels());
}

void require_one_size(const Dataset& train, const Dataset& test, const fs::path& folder,
                      const std::array<const char*, 4>& names) {
  if (image_size(train) != image_size(test))
    throw InputError(fmt::format(
        "{}: images of {} in {}, but of {} in {} (rows x cols x channels); allowed: one size",
        folder.string(), image_size(train), names[0], image_size(test), names[2]));
}

int largest_label(const Dataset& set) {
  return *std::max_element(set.labels.begin(), set.labels.end());
}

/// Returns the CRC-32 of the file.
std::string write_file(const fs::path& path, std::uint32_t magic,
                       std::span<const std::size_t> shape, std::span<const std::uint8_t> values) {
  std::string header;
  const auto put = [&](std::uint32_t word) {  // big-endian
    for (const int shift : {24, 16, 8, 0}) header += static_cast<char>(word >> shift);
  };
  put(magic);
  for (const std::size_t side : shape) put(static_cast<std::uint32_t>(side));
  AppendedFile file(path, /*anew=*/true);
  file.append(header);
  file.append({reinterpret_cast<const char*>(values.data()), values.size()});
  Crc32 crc = crc32_of(header.data(), header.size());
  crc.add(values.data(), values.size());
  return crc.hex();
}

void write_split(const fs::path& folder, const Dataset& set, const char* images,
                 const char* labels) {
  write_idx_images(folder / images, set);
  const std::vector<std::uint8_t> bytes(set.labels.begin(), set.labels.end());
  const std::size_t count = bytes.size();
  write_file(folder / labels, kLabels, {&count, 1}, bytes);
}

}  // namespace

RawDatasets read_idx(const fs::path& folder,
                     const std::map<std::string, std::uint32_t>& known_crc32,
                     const std::array<const char*, 4>& names) {
  RawDatasets digits;
  const auto check = [&](const IdxFile& file, const std::string& name) {
    const Crc32 found = crc32_of(file.bytes.data(), file.bytes.size());
    const auto known = known_crc32.find(name);
    if (known != known_crc32.end() && known->second != found.value())
      file.fail(
          fmt::format("CRC-32 {} (decompressed) is not {:08x}, that of the published file; use "
                      "data.source=idx if this other content is meant",
                      found.hex(), known->second));
    digits.checksums[name] = found.hex();
  };
  const auto read_split = [&](const std::string& images_name, const std::string& labels_name) {
    const IdxFile images = read_images(folder, images_name);
    const IdxFile labels = read_file(folder, labels_name, {kLabels});
    const Dataset set = pair_up(images, labels);
    check(images, images_name);
    check(labels, labels_name);
    return set;
  };
  digits.train = read_split(names[0], names[1]);
  digits.test = read_split(names[2], names[3]);
  require_one_size(digits.train, digits.test, folder, names);

  const int classes = 1 + std::max(largest_label(digits.train), largest_label(digits.test));
  digits.train.classes = digits.test.classes = classes;
  for (int label = 0; label < classes; ++label) digits.class_names.push_back(std::to_string(label));
  return digits;
}

std::string read_idx_images(const fs::path& path, Dataset& set) {
  const IdxFile file = read_images(path.parent_path(), path.filename().string());
  copy_images(file, set);
  return crc32_of(file.bytes.data(), file.bytes.size()).hex();
}

std::string write_idx_images(const fs::path& path, const Dataset& set) {
  const auto shape = set.images.shape();
  const bool grey = set.channels() == 1;
  return write_file(path, grey ? kGreyImages : kColourImages, std::span(shape).first(grey ? 3 : 4),
                    {set.images.data(), set.images.size()});
}

void write_idx(const fs::path& folder, const Dataset& train, const Dataset& test) {
  constexpr int kLargestLabel = 255;
  require_one_size(train, test, folder, kIdxFiles);
  for (const Dataset* set : {&train, &test})
    for (const int label : set->labels)
      if (label < 0 || label > kLargestLabel)
        throw InputError(
            fmt::format("label {}; allowed in an IDX file: 0 to {}", label, kLargestLabel));
  write_split(folder, train, kIdxFiles[0], kIdxFiles[1]);
  write_split(folder, test, kIdxFiles[2], kIdxFiles[3]);
}

void write_class_names(const fs::path& folder, const std::vector<std::string>& class_names) {
  check_class_names(class_names, "class_names");
  std::string lines;
  for (const std::string& name : class_names) lines.append(name) += '\n';
  write_text(folder / kClassNames, lines);
}

void read_class_names(RawDatasets& digits, const fs::path& folder) {
  constexpr std::uintmax_t kMostBytes = 1'000'000;
  const fs::path path = folder / kClassNames;
  const std::unique_ptr<InputFile> file = InputFile::if_there(path);
  if (!file) return;
  if (static_cast<std::uintmax_t>(file->size()) > kMostBytes)
    throw InputError(
        fmt::format("{}: {} bytes; allowed: at most {}", path.string(), file->size(), kMostBytes));
  std::vector<std::string> names;
  for (std::string name; std::getline(*file, name);) {
    if (name.ends_with('\r')) name.pop_back();
    names.push_back(name);
  }
  const int classes = static_cast<int>(names.size());
  if (classes < digits.train.classes)
    throw InputError(fmt::format("{}: {} names of classes; needed: {} and more, a line each",
                                 path.string(), classes, digits.train.classes));
  digits.train.classes = digits.test.classes = classes;
  digits.class_names = std::move(names);
}

}  // namespace saccade
