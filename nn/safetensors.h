#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace saccade {

/// How a file stores its numbers: F32, or F16, which takes half the space and keeps 11 bits of
/// each.
enum class Precision { single, half };

/// The bytes of a number.
constexpr std::size_t size_of(Precision precision) { return precision == Precision::half ? 2 : 4; }

/// A named tensor. When writing, the caller owns `data`.
struct NamedTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::span<const float> data;
};

/// The contents of a safetensors file; owns the data. File format: 8 bytes little-endian header
/// size, a JSON header, then the tensors' bytes (github.com/huggingface/safetensors).
struct SafetensorsFile {
  std::map<std::string, std::string> metadata;  // without `crc32`
  std::vector<NamedTensor> tensors;             // in file order, views of `storage`
  std::vector<float> storage;
  bool has_checksum = false;                // it has a `crc32` entry, which matched
  Precision precision = Precision::single;  // half if every tensor is F16

  SafetensorsFile() = default;
  SafetensorsFile(SafetensorsFile&&) = default;  // a copy would view the original
  SafetensorsFile& operator=(SafetensorsFile&&) = default;

  /// Throws InputError naming the tensor if there is none of that name.
  const NamedTensor& find(const std::string& name) const;
};

/// Writes to a temporary file beside `path`, syncs it and renames it, so that `path` always holds a
/// complete file. Adds the metadata entry `crc32` over the metadata and the tensors' names, shapes
/// and values as float32. Equal input gives equal bytes. Tensor names must be distinct and metadata
/// must be UTF-8. Throws std::runtime_error naming the path if it cannot be written, or the tensor
/// with a number that is too large for half precision.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       std::map<std::string, std::string> metadata,
                       Precision precision = Precision::single);

/// Throws by throw_refused() if the file cannot be read, and InputError naming the path and the
/// fault: truncated, wrong format, a tensor that is neither F32 nor F16, or contents that do not
/// match the `crc32` entry. Files without that entry, as other programs write them, are not
/// verified.
SafetensorsFile read_safetensors(const std::filesystem::path& path);
/// Reads the bytes of a file. The InputError names the fault alone.
SafetensorsFile parse_safetensors(const std::string& bytes);

}  // namespace saccade
