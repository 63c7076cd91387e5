#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>
#include <xtensor/xtensor.hpp>

#include "base/own_settings.h"
#include "base/setting.h"

namespace saccade {

/// A dataset: labelled images of one size, independent of their source.
struct Dataset {
  xt::xtensor<std::uint8_t, 4> images;  // (N, rows, cols, channels), channels 1 or 3 (RGB)
  xt::xtensor<int, 1> labels;           // (N), 0 .. classes - 1
  int classes = 0;

  int size() const { return static_cast<int>(images.shape()[0]); }
  int rows() const { return static_cast<int>(images.shape()[1]); }
  int cols() const { return static_cast<int>(images.shape()[2]); }
  int channels() const { return static_cast<int>(images.shape()[3]); }
};

/// Where the digits come from. Keys: data.*
struct DataConfig {
  std::string source = "mnist";  // one of digit_sources()
  std::string path = {};         // empty: $SACCADE_DATA/<source>, then cache_folder()/<source>;
                                 // required by idx and folder, has no effect with synthetic
  int size = 0;                  // folder: rows and cols to resize to; 0 keeps the size of the
                                 // images. Has no effect with other sources
  OwnValues own = {};            // data.<source>.*, of registered sources
};

Settings describe(DataConfig& config);

/// Returns $XDG_CACHE_HOME/saccade or ~/.cache/saccade; empty if neither is known.
std::filesystem::path cache_folder();

/// Throws SettingError for an unknown source, if the source needs a path and there is none, and if
/// the size is negative.
void check(const DataConfig& config);

/// Training, validation and test digits. The validation digits are the last 5,000 of the training
/// file (a sixth of it if it holds fewer than 30,000). They choose the checkpoint; the test digits
/// are read once, at the end.
struct Digits {
  Dataset train;
  Dataset valid;
  Dataset test;
  std::vector<std::string> class_names;             // (classes)
  std::string valid_origin = {}, test_origin = {};  // descriptions of where those digits are from
  // CRC-32 as 8 hex digits. IDX: file name -> checksum of its decompressed bytes; others: "train"
  // (with validation) and "test" -> checksum of the pixels.
  std::map<std::string, std::string> checksums;
};

/// At most one in this many training digits is used for validation, so a dataset needs at least
/// that many.
inline constexpr int kValidShare = 6;

/// The most rows, and columns, of an image. Sums and products of a few sides are then ints.
inline constexpr int kMostSide = 1 << 16;

/// Reads or generates the digit sets. Throws InputError as check() and check_class_names() do, for
/// images with a side above kMostSide, and InputError with path and fault for: a missing or
/// truncated file, a wrong magic, inconsistent counts, a known file with a wrong checksum, an image
/// file that is not an image, images of different sizes.
Digits load_digits(const DataConfig& config);

/// The allowed values of data.source.
std::vector<std::string> digit_sources();
/// Whether a source reads the user's own images, and so requires data.path.
bool digits_are_own(const std::string& source);
/// Whether a source reads files from data.path, rather than generating digits.
bool digits_come_from_files(const std::string& source);
/// Whether a source takes data.size.
bool digits_can_be_resized(const std::string& source);

// The sources. A new one is one file and one line in the table of digits.cpp, which says which keys
// of data.* it takes.

/// The output of a source: all its training digits (validation included) and its test digits.
struct RawDatasets {
  Dataset train;
  Dataset test;
  std::vector<std::string> class_names;
  // Descriptions of where those digits are from.
  std::string valid_origin = "the last of the training file", test_origin = "the test file";
  std::map<std::string, std::string> checksums;  // empty: load_digits computes those of the pixels
};

/// A source of digits, named by data.source.
struct DigitSource {
  /// Whether it takes data.path.
  enum class Path {
    optional,  // it has default folders
    needed,
    unused,  // it reads no files
  };

  /// Reads or makes all digits. Throws as load_digits does.
  RawDatasets (*load)(const DataConfig&);
  Path path = Path::optional;
  bool resizes = false;  // it takes data.size
};

/// Adds a source of the program that calls it, before anything else is called, with settings
/// data.<name>.<..> that `load` reads from DataConfig::own. Throws as NameTable::add and
/// add_own_settings do, and InputError for a source without `load`.
void register_digit_source(const std::string& name, const DigitSource& source,
                           const std::vector<OwnSetting>& settings = {});

/// Throws InputError, which begins with `what`, unless all names differ and each is a line of UTF-8
/// that is not empty and has no control characters.
void check_class_names(const std::vector<std::string>& names, const std::string& what);

/// File names of an IDX dataset.
inline constexpr std::array<const char*, 4> kIdxFiles = {
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte"};

/// File names of the EMNIST digits (Cohen et al. 2017).
inline constexpr std::array<const char*, 4> kEmnistFiles = {
    "emnist-digits-train-images-idx3-ubyte", "emnist-digits-train-labels-idx1-ubyte",
    "emnist-digits-test-images-idx3-ubyte", "emnist-digits-test-labels-idx1-ubyte"};

/// Reads four IDX files (LeCun), each plain or .gz, by default under their usual names.
/// `known_crc32` maps a file name to the CRC-32 it must have; other files are not checked. Images
/// are (N, rows, cols), magic 0x803, or (N, rows, cols, channels) with 1 or 3 channels, magic
/// 0x804; labels (N), magic 0x801. Bytes after the last value are refused. The number of classes is
/// the largest label plus one.
RawDatasets read_idx(const std::filesystem::path& folder,
                     const std::map<std::string, std::uint32_t>& known_crc32,
                     const std::array<const char*, 4>& names = kIdxFiles);

/// Writes four such files, uncompressed, into an existing folder; read_idx reads them back
/// unchanged. Throws InputError if the two sets differ in image size or a label is outside 0 ..
/// 255, and std::runtime_error naming a file that cannot be written.
void write_idx(const std::filesystem::path& folder, const Dataset& train, const Dataset& test);

/// One such file of images. Both return the CRC-32 of its bytes as 8 hex digits, and throw like the
/// functions above.
std::string read_idx_images(const std::filesystem::path& path, Dataset& set);
std::string write_idx_images(const std::filesystem::path& path, const Dataset& set);

/// Optional file beside them with one class name per line, read for data.source: idx. The number of
/// classes is then the number of names.
inline constexpr const char* kClassNames = "classes.txt";
/// Writes that file. Throws InputError as check_class_names() does, and std::runtime_error naming a
/// file that cannot be written.
void write_class_names(const std::filesystem::path& folder,
                       const std::vector<std::string>& class_names);
/// Reads that file into `digits`; does nothing if it does not exist. Throws InputError with the
/// path for fewer names than classes. load_digits checks the names themselves, of every source.
void read_class_names(RawDatasets& digits, const std::filesystem::path& folder);

/// File names of the cropped digits of SVHN (Netzer et al. 2011).
inline constexpr std::array<const char*, 2> kSvhnFiles = {"train_32x32.mat", "test_32x32.mat"};

/// Reads two MAT files of version 5, with X (32, 32, 3, N) of uint8 and y, N labels 1 to 10, where
/// 10 stands for the digit 0. Images are (N, 32, 32, 3).
RawDatasets read_svhn(const std::filesystem::path& folder);

/// File names of the binary version of CIFAR-10 (Krizhevsky 2009); the last one is the test set.
inline constexpr std::array<const char*, 6> kCifar10Files = {"data_batch_1.bin", "data_batch_2.bin",
                                                             "data_batch_3.bin", "data_batch_4.bin",
                                                             "data_batch_5.bin", "test_batch.bin"};

/// Reads six files of records: one byte for the label, 0 to 9, and 3 planes (red, green, blue) of
/// 32 x 32 bytes. Class names come from batches.meta.txt or, without it, are the published ones.
/// Images are (N, 32, 32, 3).
RawDatasets read_cifar10(const std::filesystem::path& folder);

/// Reads PNG and JPEG images, one folder per class: `train/<class>/*` and `test/<class>/*`, or
/// `<class>/*` alone, of which a fixed random sixth becomes the test set. Classes are numbered in
/// the order of their names. If grey and colour are mixed, all become colour. `size` > 0 resizes
/// all images to size x size; otherwise all must have the same size.
///
/// `cache`: folder for the decoded images, of each folder and size. They are used until an image is
/// added, removed, or changes in size or modification time (ImageCache). Empty: no cache.
RawDatasets read_folder(const std::filesystem::path& folder, int size,
                        const std::filesystem::path& cache = {});

/// Draws a procedural dataset of handwriting-like 28x28 digits: stroke skeletons with random slant,
/// scale, rotation, thickness and elastic bends, rendered anti-aliased. Equal sizes and seed give
/// the same set for any number of threads.
RawDatasets draw_synthetic(int num_train, int num_test, std::uint64_t seed);

}  // namespace saccade
