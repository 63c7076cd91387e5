#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>
#include <xtensor/xtensor.hpp>

namespace saccade {

/// Labelled images of one size. A digit set is data: where it came from does not matter.
struct DigitSet {
  xt::xtensor<std::uint8_t, 4> images;  // (N, rows, cols, channels), channels 1 or 3 (RGB)
  xt::xtensor<int, 1> labels;           // (N), 0 .. classes - 1
  int classes = 0;

  int size() const { return static_cast<int>(images.shape()[0]); }
  int rows() const { return static_cast<int>(images.shape()[1]); }
  int cols() const { return static_cast<int>(images.shape()[2]); }
  int channels() const { return static_cast<int>(images.shape()[3]); }
};

/// Where digits come from. Keys: data.*
struct DataConfig {
  std::string source = "mnist";  // a name of digit_sources()
  std::string path = {};         // empty: $SACCADE_DATA/<source>, then cache_folder()/<source>;
                                 // idx and folder need it, synthetic takes none
  int size = 0;                  // folder only: rows and cols to resize to; 0 keeps the size
};

/// $XDG_CACHE_HOME/saccade or ~/.cache/saccade; empty where neither is known.
std::filesystem::path cache_folder();

/// Throws InputError naming the keys unless the source takes such a path and such a size.
void check(const DataConfig& config);

/// Training, validation and test digits. The validation digits are the last 5,000 of the training
/// file (a sixth of it where it holds fewer than 30,000). They choose the checkpoint, and the test
/// digits are read once, at the end.
struct Digits {
  DigitSet train;
  DigitSet valid;
  DigitSet test;
  std::vector<std::string> class_names;             // (classes)
  std::string valid_origin = {}, test_origin = {};  // where those digits are from, in words
  // CRC-32 as 8 hex digits. IDX: file name -> of its bytes, decompressed; others: "train" (with
  // validation) and "test" -> of the pixels.
  std::map<std::string, std::string> checksums;
};

/// One of so many training digits is for validation, so that there are at least as many.
inline constexpr int kValidShare = 6;

/// Reads or makes the digit sets. Throws InputError as check() does, and naming the path and the
/// fault: missing or truncated file, wrong magic, counts that disagree, a known file with another
/// checksum, an image file that is no image, sizes that differ.
Digits load_digits(const DataConfig& config);

/// The names that data.source takes.
std::vector<std::string> digit_sources();
/// Whether a source reads images of the user's own: it needs data.path.
bool digits_are_own(const std::string& source);
/// Whether a source reads data.path; another makes its digits.
bool digits_come_from_files(const std::string& source);
/// Whether a source reads data.size.
bool digits_can_be_resized(const std::string& source);

// The sources. A new one is one file and one line in the table of digits.cpp, which says what of
// data.* it takes.

/// What a source hands over: everything it has for training (validation included), and for testing.
struct RawDigits {
  DigitSet train;
  DigitSet test;
  std::vector<std::string> class_names;
  // Where those digits are from, in words.
  std::string valid_origin = "the last of the training file", test_origin = "the test file";
  std::map<std::string, std::string> checksums;  // empty: load_digits takes those of the pixels
};

/// The names of the files of an IDX digit set.
inline constexpr std::array<const char*, 4> kIdxFiles = {
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte"};

/// Those of the digits of EMNIST (Cohen et al. 2017).
inline constexpr std::array<const char*, 4> kEmnistFiles = {
    "emnist-digits-train-images-idx3-ubyte", "emnist-digits-train-labels-idx1-ubyte",
    "emnist-digits-test-images-idx3-ubyte", "emnist-digits-test-labels-idx1-ubyte"};

/// Four IDX files (LeCun), each plain or .gz, under their usual names or others. `known_crc32` maps
/// a file name to the CRC-32 it must have; files it does not name are not checked. Images are (N,
/// rows, cols), magic 0x803, or (N, rows, cols, channels) with 1 or 3 channels, magic 0x804; labels
/// (N), magic 0x801. There are as many classes as the largest label says.
RawDigits read_idx(const std::filesystem::path& folder,
                   const std::map<std::string, std::uint32_t>& known_crc32,
                   const std::array<const char*, 4>& names = kIdxFiles);

/// Writes four such files, plain, into a folder that is there; read_idx gives back what was
/// written. Throws InputError for images of two sizes and for labels beyond 0 to 255, and
/// std::runtime_error naming a file that cannot be written.
void write_idx(const std::filesystem::path& folder, const DigitSet& train, const DigitSet& test);

/// The file beside them that names the classes, a line each, where there is one: of data.source:
/// idx. There are then as many classes as names.
inline constexpr const char* kClassNames = "classes.txt";
/// Writes it. Throws InputError for a name that is empty, has a line break or is there twice, and
/// std::runtime_error naming a file that cannot be written.
void write_class_names(const std::filesystem::path& folder,
                       const std::vector<std::string>& class_names);
/// Reads it into `digits`; leaves them as they are where there is none. Throws InputError naming
/// the path and the fault: such a name, or fewer names than classes.
void read_class_names(RawDigits& digits, const std::filesystem::path& folder);

/// The names of the files of the cropped digits of SVHN (Netzer et al. 2011).
inline constexpr std::array<const char*, 2> kSvhnFiles = {"train_32x32.mat", "test_32x32.mat"};

/// Two MAT files of version 5, with X (32, 32, 3, N) of uint8 and y, N labels 1 to 10 of which 10
/// is the digit 0. Images are (N, 32, 32, 3).
RawDigits read_svhn(const std::filesystem::path& folder);

/// The names of the files of CIFAR-10 (Krizhevsky 2009) in its binary version, the last for
/// testing.
inline constexpr std::array<const char*, 6> kCifar10Files = {"data_batch_1.bin", "data_batch_2.bin",
                                                             "data_batch_3.bin", "data_batch_4.bin",
                                                             "data_batch_5.bin", "test_batch.bin"};

/// Six files of records: a byte that is the label, 0 to 9, and 3 planes (red, green, blue) of 32 x
/// 32 bytes. The classes have the names that batches.meta.txt gives, or without it as published.
/// Images are (N, 32, 32, 3).
RawDigits read_cifar10(const std::filesystem::path& folder);

/// PNG and JPEG images, one folder a class: `train/<class>/*` and `test/<class>/*`, or `<class>/*`
/// alone, of which a fixed random sixth is then the test set. Classes are numbered in the order of
/// their names. Grey and colour together become colour. `size` > 0 resizes all to size x size;
/// otherwise all must be of one size.
///
/// `cache`: a folder where they are kept decoded, a file for each folder and size, which is taken
/// as long as no image has come, gone, or another size or time of change (ImageCache); empty: none.
RawDigits read_folder(const std::filesystem::path& folder, int size,
                      const std::filesystem::path& cache = {});

/// A procedural set of handwriting-like 28x28 digits, drawn on the spot: stroke skeletons with
/// random slant, scale, rotation, thickness and elastic bends, rendered anti-aliased. The same
/// sizes and seed give the same set, for any number of threads.
RawDigits draw_synthetic(int num_train, int num_test, std::uint64_t seed);

}  // namespace saccade
