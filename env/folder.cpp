#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <span>
#include <stdexcept>

#include "base/error.h"
#include "base/name_table.h"
#include "base/printable.h"
#include "base/system_reason.h"
#include "env/digits.h"
#include "env/image_cache.h"
#include "env/open_file.h"
#include "nn/parallel.h"
#include "nn/random.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

struct ImageFile {
  fs::path path;
  int label;
};

struct Image {
  std::string path;
  cv::Mat pixels;  // 8 bit, grey or BGR
};

/// Returns the entries of a folder that satisfy `wanted`, sorted by name, without hidden ones.
template <class Predicate>
std::vector<fs::path> sorted_entries(const fs::path& folder, Predicate&& wanted) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().front() != '.' && wanted(entry->path()))
      paths.push_back(entry->path());
  if (error) throw InputError(fmt::format("{}: {}", folder.string(), error.message()));
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool has_image_suffix(const fs::path& path) {
  std::string suffix = path.extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return suffix == ".png" || suffix == ".jpg" || suffix == ".jpeg";
}

std::vector<std::string> find_classes(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::path& path : sorted_entries(folder, is_folder)) {
    names.push_back(path.filename().string());
    if (!is_utf8(names.back()))
      throw InputError(fmt::format("{}: the name of a class is not UTF-8", path.string()));
  }
  if (names.size() < 2)
    throw InputError(fmt::format(
        "{}: found {} class folders ({}); needed: at least 2, each with the images of one class",
        folder.string(), names.size(), join(names)));
  return names;
}

/// Returns the images of all classes in a uniform random order that is fixed. `split` keys the
/// order.
std::vector<ImageFile> list_images(const fs::path& folder, const std::vector<std::string>& classes,
                                   std::uint32_t split) {
  constexpr std::uint64_t kSeed = 1;
  std::vector<ImageFile> files;
  for (int label = 0; label < static_cast<int>(classes.size()); ++label) {
    const fs::path class_folder = folder / classes[label];
    const std::vector<fs::path> paths = sorted_entries(class_folder, has_image_suffix);
    if (paths.empty())
      throw InputError(fmt::format("{}: no images; needed: at least one .png, .jpg or .jpeg file",
                                   class_folder.string()));
    for (const fs::path& path : paths) files.push_back({path, label});
  }
  const int count = static_cast<int>(files.size());
  const RandomPermutation order(count, kSeed, Purpose::folder_split, split);
  std::vector<ImageFile> shuffled;
  for (int i = 0; i < count; ++i) shuffled.push_back(files[order(i)]);
  return shuffled;
}

/// Averages areas to shrink an image and interpolates to enlarge it.
cv::Mat resize(const cv::Mat& pixels, int size) {
  cv::Mat shrunk, resized;
  cv::resize(pixels, shrunk, {std::min(pixels.cols, size), std::min(pixels.rows, size)}, 0, 0,
             cv::INTER_AREA);
  cv::resize(shrunk, resized, {size, size}, 0, 0, cv::INTER_LINEAR);
  return resized;
}

double word(const std::uint8_t* bytes) { return 256.0 * bytes[0] + bytes[1]; }

/// Returns rows times columns of the largest frame that the bytes of a JPEG file could declare.
/// Scans every offset, because decoders differ in how they find frames after bytes that are not
/// segments.
double most_pixels_of_jpeg(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kFrame = 10;  // 0xff, kind, size, bits, rows, cols, components
  double most = 0.0;
  for (std::size_t i = 0; i + kFrame <= bytes.size(); ++i) {
    const std::uint8_t *head = &bytes[i], kind = head[1];
    const bool is_frame = head[0] == 0xff && kind >= 0xc0 && kind <= 0xcf && kind != 0xc4 &&
                          kind != 0xc8 && kind != 0xcc;
    if (is_frame && word(head + 2) == 8.0 + 3.0 * head[9] && head[4] == 8)
      most = std::max(most, word(head + 5) * word(head + 7));
  }
  return most;
}

/// Returns the rows times columns that a PNG or JPEG file declares; nullopt for any other format.
/// The first bytes decide the format, not the file name.
std::optional<double> declared_pixels(std::span<const std::uint8_t> bytes) {
  constexpr std::array<std::uint8_t, 8> kPng = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  constexpr std::array<std::uint8_t, 3> kJpeg = {0xff, 0xd8, 0xff};
  constexpr std::size_t kPngSides = 16;  // after the signature and the first chunk's size and name
  const auto begins_with = [&](const auto& mark) {
    return bytes.size() >= mark.size() && std::equal(mark.begin(), mark.end(), bytes.begin());
  };
  if (begins_with(kJpeg)) return most_pixels_of_jpeg(bytes);
  if (!begins_with(kPng)) return std::nullopt;
  if (bytes.size() < kPngSides + 8) return 0.0;  // too short to decode
  const std::uint8_t* sides = &bytes[kPngSides];
  return (word(sides) * 65536.0 + word(sides + 2)) * (word(sides + 4) * 65536.0 + word(sides + 6));
}

std::vector<std::uint8_t> read_bytes(const fs::path& path) {
  constexpr std::uintmax_t kMostBytes = 1 << 29;  // the same as the limit on decoded pixels
  InputFile file = open_file(path);
  const std::uintmax_t size = file.size();
  if (size > kMostBytes)
    throw InputError(
        fmt::format("{}: {} bytes; allowed: at most {}", path.string(), size, kMostBytes));
  std::vector<std::uint8_t> bytes(size);
  errno = 0;
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw_refused(path.string() + ": cannot be read");
  return bytes;
}

/// Decodes to 8 bit, grey or BGR without alpha, with the EXIF rotation applied.
cv::Mat decode(const fs::path& path, int size) {
  constexpr double k16To8Bit = 1.0 / 257;
  constexpr double kMostPixels = 1 << 26;  // half a gigabyte at 8 bytes per pixel
  const auto fail = [&](const std::string& fault) {
    throw InputError(fmt::format("{}: {}", path.string(), fault));
  };
  const std::vector<std::uint8_t> bytes = read_bytes(path);
  const std::optional<double> declared = declared_pixels(bytes);
  if (!declared) fail("is neither PNG nor JPEG, whatever its name; allowed: these");
  if (*declared > kMostPixels)
    fail(fmt::format("{:.0f} pixels; allowed: at most {:.0f}", *declared, kMostPixels));
  cv::Mat pixels;
  try {
    pixels = cv::imdecode(bytes, cv::IMREAD_ANYCOLOR | cv::IMREAD_ANYDEPTH);
  } catch (const cv::Exception&) {
    pixels.release();
  }
  if (pixels.depth() == CV_16U) pixels.convertTo(pixels, CV_8U, k16To8Bit);
  if (pixels.empty() || pixels.depth() != CV_8U) fail("cannot be decoded; allowed: PNG and JPEG");
  return size > 0 ? resize(pixels, size) : pixels;
}

/// Throws the error of the first file that cannot be read.
std::vector<Image> read_images(const std::vector<ImageFile>& files, int size, Workers& workers) {
  std::vector<Image> images(files.size());
  std::vector<std::exception_ptr> faults(files.size());
  workers.for_each(static_cast<int>(files.size()), [&](int i) {
    images[i] = {files[i].path.string(), {}};
    try {
      images[i].pixels = decode(files[i].path, size);
    } catch (const std::runtime_error&) {
      faults[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& fault : faults)
    if (fault) std::rethrow_exception(fault);
  return images;
}

/// Throws unless all images have the size of `first`.
void check_sizes(const Image& first, const std::vector<Image>& images) {
  for (const Image& image : images)
    if (image.pixels.size() != first.pixels.size())
      throw InputError(
          fmt::format("{} has {} x {} pixels, but {} has {} x {} (rows x cols); allowed: images of "
                      "one size, or data.size to resize all",
                      image.path, image.pixels.rows, image.pixels.cols, first.path,
                      first.pixels.rows, first.pixels.cols));
}

bool any_colour(const std::vector<Image>& images) {
  return std::any_of(images.begin(), images.end(),
                     [](const Image& image) { return image.pixels.channels() == 3; });
}

Dataset pack(const std::vector<Image>& images, bool colour) {
  const int rows = images.front().pixels.rows, cols = images.front().pixels.cols;
  const std::size_t count = images.size(), channels = colour ? 3 : 1;
  Dataset set;
  set.images.resize(
      {count, static_cast<std::size_t>(rows), static_cast<std::size_t>(cols), channels});
  const std::size_t pixels = set.images.size() / count;  // per image
  for (std::size_t i = 0; i < count; ++i) {
    const cv::Mat& from = images[i].pixels;
    cv::Mat to(rows, cols, colour ? CV_8UC3 : CV_8UC1, set.images.data() + i * pixels);
    if (colour)
      cv::cvtColor(from, to, from.channels() == 3 ? cv::COLOR_BGR2RGB : cv::COLOR_GRAY2RGB);
    else
      from.copyTo(to);
  }
  return set;
}

/// Everything that decoding depends on: a line per file with name, size and modification time.
std::string listing(const fs::path& folder, const std::vector<ImageFile>& files) {
  std::string text;
  for (const ImageFile& file : files) {
    struct stat status {};
    if (stat(file.path.c_str(), &status) != 0) status = {};  // decoding will report the error
    text += fmt::format("{} {} {}.{}\n", file.path.lexically_relative(folder).string(),
                        status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  return text;
}

/// Writes the images of both sets.
void decode_all(RawDatasets& digits, const std::vector<ImageFile>& train,
                const std::vector<ImageFile>& test, int size) {
  Workers workers(0);
  const std::vector<Image> train_images = read_images(train, size, workers);
  const std::vector<Image> test_images = read_images(test, size, workers);
  check_sizes(train_images.front(), train_images);
  check_sizes(train_images.front(), test_images);
  const bool colour = any_colour(train_images) || any_colour(test_images);
  digits.train = pack(train_images, colour);
  digits.test = pack(test_images, colour);
}

bool has_all(const Dataset& set, const std::vector<ImageFile>& files) {
  return set.images.shape()[0] == files.size();
}

void set_labels(Dataset& set, const std::vector<ImageFile>& files, std::size_t classes) {
  set.classes = static_cast<int>(classes);
  set.labels.resize({files.size()});
  std::ranges::transform(files, set.labels.begin(), &ImageFile::label);
}

}  // namespace

RawDatasets read_folder(const fs::path& folder, int size, const fs::path& cache) {
  constexpr std::size_t kTestShare = 6;
  const fs::path train_folder = folder / "train", test_folder = folder / "test";
  const bool has_test = is_folder(train_folder) && is_folder(test_folder);

  const std::vector<std::string> names = find_classes(has_test ? train_folder : folder);
  std::vector<ImageFile> train = list_images(has_test ? train_folder : folder, names, 0);
  std::vector<ImageFile> test;
  if (has_test) {
    const std::vector<std::string> test_names = find_classes(test_folder);
    if (test_names != names)
      throw InputError(fmt::format("{} has the classes {}, but {} has {}; allowed: the same",
                                   train_folder.string(), join(names), test_folder.string(),
                                   join(test_names)));
    test = list_images(test_folder, test_names, 1);
  } else {
    const auto cut = train.end() - std::max(train.size() / kTestShare, std::size_t{1});
    test.assign(cut, train.end());
    train.erase(cut, train.end());
  }

  std::error_code error;
  const fs::path whole_path = fs::absolute(folder, error).lexically_normal();
  const ImageCache kept(error ? fs::path() : cache,
                        fmt::format("{} as {}", whole_path.string(), size),
                        listing(folder, train) + listing(folder, test));
  RawDatasets digits;
  if (!kept.read(digits.train, digits.test) || !has_all(digits.train, train) ||
      !has_all(digits.test, test)) {
    decode_all(digits, train, test, size);
    kept.write(digits.train, digits.test);
  }
  set_labels(digits.train, train, names.size());
  set_labels(digits.test, test, names.size());
  digits.class_names = names;
  digits.valid_origin =
      has_test ? "drawn at random from the folder train" : "drawn at random from the rest";
  digits.test_origin = has_test ? "the folder test" : "a sixth of all, drawn at random";
  return digits;
}

}  // namespace saccade
