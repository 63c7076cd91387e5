#include "nn/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
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
#include "nn/half.h"

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;
using Metadata = std::map<std::string, std::string>;

static_assert(std::endian::native == std::endian::little, "the file format is little-endian");

constexpr std::size_t kAlignment = 8;            // of the first tensor in bytes
constexpr std::size_t kMaxHeader = 100'000'000;  // bytes; the limit of the format
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kChecksum = "crc32";

// Size of a tensor in bytes.
std::size_t size_bytes(const std::string& name, const std::vector<std::size_t>& shape,
                       Precision precision) {
  std::size_t size = size_of(precision);
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

std::string name_of(Precision precision) { return precision == Precision::half ? "F16" : "F32"; }

// Returns the header size, the header, and spaces up to the next multiple of kAlignment.
std::string make_header(std::span<const NamedTensor> tensors, Metadata metadata,
                        Precision precision) {
  metadata[kChecksum] = checksum(metadata, tensors);
  Json header;
  header[kMetadata] = metadata;
  std::size_t end = 0;
  for (const NamedTensor& tensor : tensors) {
    SACCADE_CHECK(!header.contains(tensor.name));
    const std::size_t begin = end;
    end += size_bytes(tensor.name, tensor.shape, precision);
    SACCADE_CHECK(tensor.data.size() * size_of(precision) == end - begin);
    header[tensor.name] = {
        {"dtype", name_of(precision)}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string json = header.dump();
  json.resize((json.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const std::uint64_t size = json.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + json;
}

std::string bytes_of(std::span<const float> numbers, Precision precision) {
  if (precision == Precision::single)
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
  std::string bytes(numbers.size() * size_of(precision), '\0');
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint16_t half = to_half(numbers[i]);
    std::memcpy(bytes.data() + i * sizeof half, &half, sizeof half);
  }
  return bytes;
}

// What a file of half precision holds of `tensors`; `storage` owns the rounded numbers.
std::vector<NamedTensor> rounded(std::span<const NamedTensor> tensors,
                                 std::vector<std::vector<float>>& storage) {
  std::vector<NamedTensor> all(tensors.begin(), tensors.end());
  for (NamedTensor& tensor : all) {
    std::vector<float>& numbers = storage.emplace_back();
    for (const float x : tensor.data) {
      if (std::abs(x) > kMostHalf)
        throw InputError(fmt::format("tensor '{}': {} in half precision; allowed: {} to {}",
                                     tensor.name, x, -kMostHalf, kMostHalf));
      numbers.push_back(from_half(to_half(x)));
    }
    tensor.data = numbers;
  }
  return all;
}

void write_and_rename(const std::filesystem::path& path, const std::string& header,
                      std::span<const NamedTensor> tensors, Precision precision) {
  OutputFile file(path, /*force=*/true);
  AppendedFile bytes(file.path());
  bytes.append(header);
  for (const NamedTensor& tensor : tensors) bytes.append(bytes_of(tensor.data, precision));
  file.commit();
}

// ---- Reading ----

// These throw messages without the path; read_safetensors adds it.

struct Entry {
  NamedTensor tensor;
  Precision precision = Precision::single;
  std::size_t begin = 0, end = 0;  // byte offsets into the data section
};

std::optional<Precision> precision_named(const std::string& name) {
  for (const Precision precision : {Precision::single, Precision::half})
    if (name == name_of(precision)) return precision;
  return std::nullopt;
}

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
  const auto precision = precision_named(dtype.get<std::string>());
  if (!precision)
    throw InputError(
        fmt::format("tensor '{}': type {}, allowed: F32, F16", name, dtype.get<std::string>()));
  Entry entry{
      {name, shape.get<std::vector<std::size_t>>(), {}}, *precision, offsets[0], offsets[1]};
  const std::size_t size = size_bytes(name, entry.tensor.shape, *precision);
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

// Appends the numbers of a tensor.
void add_numbers(std::vector<float>& storage, const std::string& data, const Entry& entry) {
  const std::size_t step = size_of(entry.precision), start = storage.size();
  storage.resize(start + (entry.end - entry.begin) / step);
  if (entry.precision == Precision::single) {
    std::copy(data.begin() + entry.begin, data.begin() + entry.end,
              reinterpret_cast<char*>(storage.data() + start));
    return;
  }
  for (std::size_t i = start; i < storage.size(); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, data.data() + entry.begin + (i - start) * step, step);
    storage[i] = from_half(half);
  }
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
  std::string data(data_size, '\0');
  read(data.data(), data_size);
  for (const Entry& entry : entries) add_numbers(file.storage, data, entry);
  std::size_t at = 0;
  for (const Entry& entry : entries) {
    const std::size_t count = (entry.end - entry.begin) / size_of(entry.precision);
    file.tensors.push_back(entry.tensor);
    file.tensors.back().data = {file.storage.data() + at, count};
    at += count;
  }
  const bool half = std::ranges::all_of(
      entries, [](const Entry& entry) { return entry.precision == Precision::half; });
  file.precision = half && !entries.empty() ? Precision::half : Precision::single;
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
                       std::map<std::string, std::string> metadata, Precision precision) {
  try {
    std::vector<std::vector<float>> storage;
    const bool half = precision == Precision::half;
    const auto all =
        half ? rounded(tensors, storage) : std::vector<NamedTensor>(tensors.begin(), tensors.end());
    write_and_rename(path, make_header(all, std::move(metadata), precision), all, precision);
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
