#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace saccade {

/// A named float32 tensor. When writing, `data` is the caller's memory.
struct NamedTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::span<const float> data;
};

/// What a safetensors file holds, owning its data. File format: 8 bytes little-endian header size,
/// a JSON header, then the tensors' bytes (github.com/huggingface/safetensors).
struct SafetensorsFile {
  std::map<std::string, std::string> metadata;  // without `crc32`
  std::vector<NamedTensor> tensors;             // in the order of the file, views of `storage`
  std::vector<float> storage;
  bool has_checksum = false;  // which held

  SafetensorsFile() = default;
  SafetensorsFile(SafetensorsFile&&) = default;  // a copy's tensors would view the original
  SafetensorsFile& operator=(SafetensorsFile&&) = default;

  /// Throws InputError naming the tensor if there is none of that name.
  const NamedTensor& find(const std::string& name) const;
};

/// Writes to a temporary file beside `path`, syncs it and renames it, so that `path` always holds a
/// whole file. Adds the metadata entry `crc32` over the metadata and the tensors' names, shapes and
/// bytes. The same input gives the same bytes; tensor names differ and metadata is UTF-8. Throws
/// std::runtime_error naming the path if it cannot be written.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       std::map<std::string, std::string> metadata);

/// Throws as throw_refused() where it cannot be read, and InputError naming the path and the fault:
/// truncated, no such format, a tensor
/// that is not float32, or contents that do not match the `crc32` entry. A file without that entry,
/// as other programs write it, is not checked against it.
SafetensorsFile read_safetensors(const std::filesystem::path& path);

}  // namespace saccade
