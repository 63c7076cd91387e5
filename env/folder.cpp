#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/name_table.h"
#include "env/area_resize.h"
#include "env/digits.h"
#include "env/image_cache.h"
#include "env/image_file.h"
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
  DecodedImage pixels;
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
  for (const fs::path& path : sorted_entries(folder, is_folder))
    names.push_back(path.filename().string());
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

DecodedImage resize(const DecodedImage& image, int size) {
  DecodedImage resized{.rows = size, .cols = size, .channels = image.channels, .bytes = {}};
  ByteResize resize(image.channels, image.rows, image.cols, size, size);
  const std::span<const std::uint8_t> bytes = resize.forward(image.bytes);
  resized.bytes.assign(bytes.begin(), bytes.end());
  return resized;
}

/// Throws the error of the first file that cannot be read.
std::vector<Image> read_images(const std::vector<ImageFile>& files, int size, Workers& workers) {
  std::vector<Image> images(files.size());
  std::vector<std::exception_ptr> faults(files.size());
  workers.for_each(static_cast<int>(files.size()), [&](int i) {
    images[i] = {files[i].path.string(), {}};
    try {
      DecodedImage pixels = read_image(files[i].path);
      images[i].pixels = size > 0 ? resize(pixels, size) : std::move(pixels);
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
    if (image.pixels.rows != first.pixels.rows || image.pixels.cols != first.pixels.cols)
      throw InputError(
          fmt::format("{} has {} x {} pixels, but {} has {} x {} (rows x cols); allowed: images of "
                      "one size, or data.size to resize all",
                      image.path, image.pixels.rows, image.pixels.cols, first.path,
                      first.pixels.rows, first.pixels.cols));
}

bool any_colour(const std::vector<Image>& images) {
  return std::any_of(images.begin(), images.end(),
                     [](const Image& image) { return image.pixels.channels == 3; });
}

Dataset pack(const std::vector<Image>& images, bool colour) {
  const int rows = images.front().pixels.rows, cols = images.front().pixels.cols;
  const std::size_t count = images.size(), channels = colour ? 3 : 1;
  Dataset set;
  set.images.resize(
      {count, static_cast<std::size_t>(rows), static_cast<std::size_t>(cols), channels});
  std::uint8_t* to = set.images.data();
  for (const Image& image : images)
    if (image.pixels.channels == static_cast<int>(channels))
      to = std::ranges::copy(image.pixels.bytes, to).out;
    else
      for (const std::uint8_t grey : image.pixels.bytes) to = std::fill_n(to, channels, grey);
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
