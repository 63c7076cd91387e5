#include "env/digits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/checksum.h"
#include "base/error.h"
#include "base/name_table.h"
#include "base/printable.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// CRC-32 of the decompressed MNIST files.
const std::map<std::string, std::uint32_t> kMnistCrc32 = {{"train-images-idx3-ubyte", 0xe9f4d8b3},
                                                          {"train-labels-idx1-ubyte", 0xe0cb4ad2},
                                                          {"t10k-images-idx3-ubyte", 0x91373bdf},
                                                          {"t10k-labels-idx1-ubyte", 0x4ab9eff9}};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Files that a source needs in one of its default folders.
struct Files {
  std::vector<std::string> names;
  bool or_gz = false;  // each may also be compressed, as .gz
};

bool holds_any(const fs::path& folder, const Files& files) {
  return std::any_of(files.names.begin(), files.names.end(), [&](const std::string& name) {
    std::error_code ignored;
    return fs::exists(folder / name, ignored) ||
           (files.or_gz && fs::exists(folder / (name + ".gz"), ignored));
  });
}

/// Returns the folder of a source: data.path if it is given, else the first default folder that
/// holds any of the files.
fs::path find_folder(const DataConfig& config, const Files& files) {
  if (!config.path.empty()) return config.path;
  std::vector<fs::path> places;
  const std::string data = environment("SACCADE_DATA");
  if (!data.empty()) places.push_back(fs::path(data) / config.source);
  if (const fs::path cache = cache_folder(); !cache.empty())
    places.push_back(cache / config.source);

  std::string looked_in;
  for (const fs::path& place : places) {
    if (holds_any(place, files)) return place;
    looked_in += "\n  " + place.string();
  }
  std::string wanted;
  for (const std::string& name : files.names) wanted += fmt::format("\n  {}", name);
  throw InputError(fmt::format(
      "no files for data.source={0} in{1}\n{2}`saccade data {0}` downloads them. Else put these "
      "there{3}, or set data.path to the folder that has them:{4}\nOr use data.source=synthetic, "
      "which needs no files.",
      config.source, looked_in,
      data.empty() ? "$SACCADE_DATA, the first place to look in, is not set.\n" : "",
      files.or_gz ? ", plain or as .gz" : "", wanted));
}

template <std::size_t N>
Files files_of(const std::array<const char*, N>& names, bool or_gz) {
  return {{names.begin(), names.end()}, or_gz};
}

/// Reads a look-alike of MNIST and names its ten classes.
RawDatasets read_named(const DataConfig& config, const std::vector<std::string>& class_names,
                       const std::array<const char*, 4>& files = kIdxFiles) {
  const fs::path folder = find_folder(config, files_of(files, true));
  RawDatasets raw = read_idx(folder, {}, files);
  if (raw.class_names.size() != class_names.size())
    throw SettingError(
        {"data.source"},
        fmt::format("data.source={} has {} classes, but the files in {} have {}; use "
                    "data.source=idx to read another digit set",
                    config.source, class_names.size(), folder.string(), raw.class_names.size()));
  raw.class_names = class_names;
  return raw;
}

RawDatasets load_mnist(const DataConfig& config) {
  return read_idx(find_folder(config, files_of(kIdxFiles, true)), kMnistCrc32);
}

RawDatasets load_fashion(const DataConfig& config) {
  return read_named(config, {"T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt",
                             "sneaker", "bag", "ankle boot"});
}

RawDatasets load_kmnist(const DataConfig& config) {
  return read_named(config, {"o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"});
}

/// Swaps rows and columns of every image: EMNIST is published transposed.
void turn_upright(Dataset& set) { set.images = xt::eval(xt::transpose(set.images, {0, 2, 1, 3})); }

RawDatasets load_emnist(const DataConfig& config) {
  RawDatasets raw =
      read_named(config, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, kEmnistFiles);
  turn_upright(raw.train);
  turn_upright(raw.test);
  return raw;
}

RawDatasets load_svhn(const DataConfig& config) {
  return read_svhn(find_folder(config, files_of(kSvhnFiles, false)));
}

RawDatasets load_cifar10(const DataConfig& config) {
  return read_cifar10(find_folder(config, files_of(kCifar10Files, false)));
}

RawDatasets load_idx(const DataConfig& config) {
  RawDatasets digits = read_idx(config.path, {});
  read_class_names(digits, config.path);
  return digits;
}

RawDatasets load_folder(const DataConfig& config) {
  const fs::path cache = cache_folder();
  return read_folder(config.path, config.size, cache.empty() ? cache : cache / "folders");
}

RawDatasets load_synthetic(const DataConfig&) {
  constexpr int kTrain = 24000, kTest = 10000;
  constexpr std::uint64_t kSeed = 1;
  return draw_synthetic(kTrain, kTest, kSeed);
}

using Path = DigitSource::Path;

NameTable<DigitSource>& sources() {
  static NameTable<DigitSource> table(
      "data.source", {{"mnist", {.load = load_mnist}},
                      {"fashion", {.load = load_fashion}},
                      {"kmnist", {.load = load_kmnist}},
                      {"emnist", {.load = load_emnist}},
                      {"svhn", {.load = load_svhn}},
                      {"cifar10", {.load = load_cifar10}},
                      {"idx", {.load = load_idx, .path = Path::needed}},
                      {"folder", {.load = load_folder, .path = Path::needed, .resizes = true}},
                      {"synthetic", {.load = load_synthetic, .path = Path::unused}}});
  return table;
}

/// Returns digits first .. first + count - 1 of a set.
Dataset part(const Dataset& set, int first, int count) {
  const std::size_t pixels = set.images.size() / set.labels.size();  // per image
  Dataset digits;
  digits.classes = set.classes;
  auto shape = set.images.shape();
  shape[0] = static_cast<std::size_t>(count);
  digits.images.resize(shape);
  digits.labels.resize({shape[0]});
  std::copy_n(set.images.data() + pixels * first, pixels * count, digits.images.data());
  std::copy_n(set.labels.data() + first, count, digits.labels.data());
  return digits;
}

void check_sides(const DataConfig& config, const Dataset& set) {
  const auto shape = set.images.shape();
  if (std::max(shape[1], shape[2]) > kMostSide)
    throw SettingError({"data.source"},
                       fmt::format("data.source={} has images of {} x {} pixels; allowed: at most "
                                   "{} rows and columns",
                                   config.source, shape[1], shape[2], kMostSide));
}

std::string pixel_checksum(const Dataset& set) {
  return crc32_of(set.images.data(), set.images.size()).hex();
}

}  // namespace

fs::path cache_folder() {
  const std::string cache = environment("XDG_CACHE_HOME"), home = environment("HOME");
  if (!cache.empty()) return fs::path(cache) / "saccade";
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "saccade";
}

Settings describe(DataConfig& config) {
  Settings all = {{"data.source", &config.source, digit_sources(), "Dataset of the digits"},
                  {"data.path", &config.path, Text::path,
                   "Folder of the dataset. null: $SACCADE_DATA, then the cache folder",
                   when(&config.source, digit_sources(), digits_come_from_files)},
                  {"data.size", &config.size, closed(0, 1024),
                   "Side in pixels that images are resized to. 0: as they are",
                   when(&config.source, digit_sources(), digits_can_be_resized)}};
  append(all, describe(config.own, "data", &config.source));
  return all;
}

void check(const DataConfig& config) {
  const DigitSource& source = sources().at(config.source);
  if (source.path == Path::needed && config.path.empty())
    throw SettingError(
        {"data.path", "data.source"},
        fmt::format("data.path: null, but data.source: {} needs the folder to read; synthetic "
                    "needs no files",
                    config.source));
  if (config.size < 0)
    throw SettingError(
        {"data.size"},
        fmt::format(
            "data.size: {} pixels; allowed: 0, which keeps the size of the images, and more",
            config.size));
}

Digits load_digits(const DataConfig& config) {
  constexpr int kMostValid = 5000;
  check(config);
  RawDatasets raw = sources().at(config.source).load(config);
  const int total = raw.train.size();
  if (total < kValidShare)
    throw SettingError(
        {"data.source"},
        fmt::format(
            "data.source={} has {} training digits; needed: at least {}, a sixth is for validation",
            config.source, total, kValidShare));
  check_sides(config, raw.train);
  check_sides(config, raw.test);
  check_class_names(raw.class_names,
                    config.path.empty() ? "data.source: " + config.source : config.path);
  if (raw.checksums.empty())
    raw.checksums = {{"train", pixel_checksum(raw.train)}, {"test", pixel_checksum(raw.test)}};
  const int valid = std::min(kMostValid, total / kValidShare);
  return {.train = part(raw.train, 0, total - valid),
          .valid = part(raw.train, total - valid, valid),
          .test = std::move(raw.test),
          .class_names = std::move(raw.class_names),
          .valid_origin = std::move(raw.valid_origin),
          .test_origin = std::move(raw.test_origin),
          .checksums = std::move(raw.checksums)};
}

void check_class_names(const std::vector<std::string>& names, const std::string& what) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const bool control = std::ranges::any_of(
        name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    if (name.empty() || control || !is_utf8(name) || !seen.insert(name).second)
      throw InputError(fmt::format(
          "{}: the name of a class is '{}'; allowed: names that differ, each a line of UTF-8", what,
          control ? "(control characters)" : printable(abridged(name))));
  }
}

std::vector<std::string> digit_sources() { return sources().names(); }
bool digits_are_own(const std::string& source) { return sources().at(source).path == Path::needed; }
bool digits_come_from_files(const std::string& source) {
  return sources().at(source).path != Path::unused;
}

bool digits_can_be_resized(const std::string& source) { return sources().at(source).resizes; }

void register_digit_source(const std::string& name, const DigitSource& source,
                           const std::vector<OwnSetting>& settings) {
  if (source.load == nullptr)
    throw InputError(fmt::format("data.source: '{}' cannot be registered: needed: load", name));
  sources().add(name, source);
  add_own_settings("data", name, settings);
}

}  // namespace saccade
