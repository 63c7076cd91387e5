#include <fmt/format.h>

#include "base/error.h"
#include "env/digits.h"
#include "env/open_file.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCifarSide = 32, kCifarChannels = 3, kCifarClasses = 10;
constexpr std::size_t kPlane = kCifarSide * kCifarSide;       // pixels of one channel
constexpr std::size_t kRecord = 1 + kCifarChannels * kPlane;  // label, red, green, blue

/// Appends the records of one batch file.
void append_batch(const fs::path& path, std::vector<std::uint8_t>& records) {
  InputFile file = open_file(path);
  const std::uintmax_t size = file.size();
  if (size == 0 || size % kRecord != 0)
    throw InputError(fmt::format("{}: {} bytes; needed: images of {} bytes each{}", path.string(),
                                 size, kRecord, size == 0 ? "" : ", so that it is truncated"));
  const std::size_t first = records.size();
  records.resize(first + size);
  errno = 0;
  file.read(reinterpret_cast<char*>(records.data() + first), static_cast<std::streamsize>(size));
  if (!file) throw_refused(path.string() + ": cannot be read");
  for (std::size_t at = first; at < records.size(); at += kRecord)
    if (records[at] >= kCifarClasses)
      throw InputError(fmt::format("{}: label {} of image {}; allowed: 0 to {}", path.string(),
                                   records[at], (at - first) / kRecord + 1, kCifarClasses - 1));
}

Dataset unpack_records(const std::vector<std::uint8_t>& records) {
  const std::size_t count = records.size() / kRecord;
  Dataset set;
  set.classes = static_cast<int>(kCifarClasses);
  set.images.resize({count, kCifarSide, kCifarSide, kCifarChannels});
  set.labels.resize({count});
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint8_t* record = records.data() + n * kRecord;
    std::uint8_t* image = set.images.data() + n * kPlane * kCifarChannels;
    set.labels(n) = record[0];
    for (std::size_t channel = 0; channel < kCifarChannels; ++channel)
      for (std::size_t pixel = 0; pixel < kPlane; ++pixel)
        image[pixel * kCifarChannels + channel] = record[1 + channel * kPlane + pixel];
  }
  return set;
}

/// Reads the class names from batches.meta.txt; without that file, returns the published names.
std::vector<std::string> read_names(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    return {"airplane", "automobile", "bird",  "cat",  "deer",
            "dog",      "frog",       "horse", "ship", "truck"};
  InputFile file = open_file(path);
  std::vector<std::string> names;
  for (std::string name; file >> name;) names.push_back(name);
  if (names.size() != kCifarClasses)
    throw InputError(fmt::format("{}: {} names of classes; needed: {}, a line each", path.string(),
                                 names.size(), kCifarClasses));
  return names;
}

}  // namespace

RawDatasets read_cifar10(const fs::path& folder) {
  RawDatasets digits;
  digits.class_names = read_names(folder / "batches.meta.txt");
  std::vector<std::uint8_t> train, test;
  for (std::size_t i = 0; i + 1 < kCifar10Files.size(); ++i)
    append_batch(folder / kCifar10Files[i], train);
  append_batch(folder / kCifar10Files.back(), test);
  digits.train = unpack_records(train);
  digits.test = unpack_records(test);
  return digits;
}

}  // namespace saccade
