#include "nn/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/output.h"
#include "base/printable.h"
#include "base/system_reason.h"

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;
using Metadata = std::map<std::string, std::string>;

static_assert(std::endian::native == std::endian::little, "the file format is little-endian");

constexpr std::size_t kAlignment = 8;            // of the first tensor in bytes
constexpr std::size_t kMaxHeader = 100'000'000;  // bytes; the limit of the format
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kChecksum = "crc32";

// Size of a float32 tensor in bytes.
std::size_t size_bytes(const std::string& name, const std::vector<std::size_t>& shape) {
  std::size_t size = sizeof(float);
  for (const std::size_t n : shape) {
    if (n != 0 && size > std::numeric_limits<std::size_t>::max() / n)
      throw InputError(fmt::format("tensor '{}': impossible shape", name));
    size *= n;
  }
  return size;
}

// Covers everything that carries meaning, in the order of the names, so that another program may
// reorder the file without breaking it.
std::string checksum(const Metadata& metadata, std::span<const NamedTensor> tensors) {
  Crc32 crc;
  const auto add_text = [&](const std::string& text) { crc.add(text.c_str(), text.size() + 1); };
  for (const auto& [key, value] : metadata) {
    if (key == kChecksum) continue;
    add_text(key);
    add_text(value);
  }
  std::vector<const NamedTensor*> by_name;
  for (const NamedTensor& tensor : tensors) by_name.push_back(&tensor);
  std::sort(by_name.begin(), by_name.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  for (const NamedTensor* tensor : by_name) {
    add_text(tensor->name);
    add_text(fmt::format("{}", fmt::join(tensor->shape, ",")));
    crc.add(tensor->data.data(), tensor->data.size_bytes());
  }
  return crc.hex();
}

// ---- Writing ----

// Returns the header size, the header, and spaces up to the next multiple of kAlignment.
std::string make_header(std::span<const NamedTensor> tensors, Metadata metadata) {
  metadata[kChecksum] = checksum(metadata, tensors);
  Json header;
  header[kMetadata] = metadata;
  std::size_t end = 0;
  for (const NamedTensor& tensor : tensors) {
    SACCADE_CHECK(!header.contains(tensor.name));
    SACCADE_CHECK(tensor.data.size_bytes() == size_bytes(tensor.name, tensor.shape));
    const std::size_t begin = end;
    end += tensor.data.size_bytes();
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string json = header.dump();
  json.resize((json.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const std::uint64_t size = json.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + json;
}

void write_and_rename(const std::filesystem::path& path, const std::string& header,
                      std::span<const NamedTensor> tensors) {
  OutputFile file(path, /*force=*/true);
  AppendedFile bytes(file.path());
  bytes.append(header);
  for (const NamedTensor& tensor : tensors)
    bytes.append({reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size_bytes()});
  file.commit();
}

// ---- Reading ----

// These throw messages without the path; read_safetensors adds it.

struct Entry {
  NamedTensor tensor;
  std::size_t begin = 0, end = 0;  // byte offsets into the data section
};

bool is_list_of_sizes(const nlohmann::json& json) {
  return json.is_array() && std::all_of(json.begin(), json.end(),
                                        [](const auto& n) { return n.is_number_unsigned(); });
}

Entry read_entry(const std::string& name, const nlohmann::json& json) {
  const auto member = [&](const char* key) {
    return json.is_object() ? json.value(key, nlohmann::json()) : nlohmann::json();
  };
  const auto dtype = member("dtype"), shape = member("shape"), offsets = member("data_offsets");
  if (!dtype.is_string() || !is_list_of_sizes(shape) || !is_list_of_sizes(offsets) ||
      offsets.size() != 2)
    throw InputError(fmt::format("tensor '{}': malformed entry in the header", name));
  if (dtype != "F32")
    throw InputError(
        fmt::format("tensor '{}': type {}, allowed: F32", name, dtype.get<std::string>()));
  Entry entry{{name, shape.get<std::vector<std::size_t>>(), {}}, offsets[0], offsets[1]};
  const std::size_t size = size_bytes(name, entry.tensor.shape);
  if (entry.end < entry.begin || entry.end - entry.begin != size)
    throw InputError(fmt::format("tensor '{}': bytes {} to {}, but its shape needs {}", name,
                                 entry.begin, entry.end, size));
  return entry;
}

// Returns all tensors ordered by offset. They must be contiguous and fill `data_size` bytes.
std::vector<Entry> read_entries(const nlohmann::json& header, std::size_t data_size) {
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items())
    if (name != kMetadata) entries.push_back(read_entry(name, json));
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::size_t end = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != end)
      throw InputError(
          fmt::format("tensor '{}': begins at byte {}, not where the one before ends, {}",
                      entry.tensor.name, entry.begin, end));
    end = entry.end;
  }
  if (end != data_size)
    throw InputError(fmt::format("{}: {} bytes of data, but its tensors take {}",
                                 end > data_size ? "truncated" : "too long", data_size, end));
  return entries;
}

Metadata read_metadata(const nlohmann::json& header) {
  Metadata metadata;
  const auto found = header.find(kMetadata);
  if (found == header.end()) return metadata;
  for (const auto& [key, value] : found->items()) {
    if (!found->is_object() || !value.is_string())
      throw InputError("metadata that is not text by name");
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

SafetensorsFile read_file(std::istream& stream, std::size_t file_size) {
  errno = 0;
  const auto read = [&](void* target, std::size_t size) {
    if (!stream.read(static_cast<char*>(target), static_cast<std::streamsize>(size)))
      throw_refused("cannot be read");
  };

  std::uint64_t header_size = 0;
  if (file_size < sizeof header_size) throw InputError("no safetensors file: under 8 bytes");
  read(&header_size, sizeof header_size);
  const std::size_t rest = file_size - sizeof header_size;
  if (header_size > std::min(rest, kMaxHeader))
    throw InputError(fmt::format("truncated or no safetensors file: header of {} bytes, file of {}",
                                 header_size, file_size));
  std::string text(header_size, '\0');
  read(text.data(), text.size());
  const auto header = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    throw InputError("not a safetensors file: its header is not a JSON object");

  SafetensorsFile file;
  file.metadata = read_metadata(header);
  const std::size_t data_size = rest - header_size;
  const std::vector<Entry> entries = read_entries(header, data_size);
  file.storage.resize(data_size / sizeof(float));
  read(file.storage.data(), data_size);
  for (const Entry& entry : entries) {
    file.tensors.push_back(entry.tensor);
    file.tensors.back().data = {file.storage.data() + entry.begin / sizeof(float),
                                file.storage.data() + entry.end / sizeof(float)};
  }
  if (const auto found = file.metadata.find(kChecksum); found != file.metadata.end()) {
    const std::string actual = checksum(file.metadata, file.tensors);
    if (found->second != actual)
      throw InputError(
          fmt::format("altered: its crc32 is {}, but it says {}", actual, found->second));
    file.metadata.erase(found);
    file.has_checksum = true;
  }
  return file;
}

}  // namespace

const NamedTensor& SafetensorsFile::find(const std::string& name) const {
  for (const NamedTensor& tensor : tensors)
    if (tensor.name == name) return tensor;
  throw InputError("there is no tensor '" + name + "'");
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       std::map<std::string, std::string> metadata) {
  try {
    write_and_rename(path, make_header(tensors, std::move(metadata)), tensors);
  } catch (const std::exception& error) {
    throw std::runtime_error("cannot write " + path.string() + ": " + error.what());
  }
}

SafetensorsFile read_safetensors(const std::filesystem::path& path) {
  InputFile stream(path);
  try {
    return read_file(stream, stream.size());
  } catch (const InputError& error) {
    throw InputError(path.string() + ": " + abridged_message(error.what()));
  } catch (const std::runtime_error& error) {  // system errors
    throw std::runtime_error(path.string() + ": " + error.what());
  }
}

SafetensorsFile parse_safetensors(const std::string& bytes) {
  std::istringstream stream(bytes);
  return read_file(stream, bytes.size());
}

}  // namespace saccade
