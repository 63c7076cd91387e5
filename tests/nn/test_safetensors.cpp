#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "nn/safetensors.h"
#include "tests/limited_files.h"
#include "tests/support.h"

namespace saccade {
namespace {

using Metadata = std::map<std::string, std::string>;

// Three tensors: a matrix, a scalar and an empty one.
struct Sample {
  std::vector<float> weights = {1.0F, -2.5F, 0.0F, 1e-30F, 3e30F, -0.0F};
  std::vector<float> step = {42.0F};
  std::vector<NamedTensor> tensors = {
      {"weights", {2, 3}, weights}, {"step", {}, step}, {"none", {0, 7}, {}}};
  Metadata metadata = {{"config", "name: \"a\"\n\tseed: 1 # \xc3\xa9\n"}, {"updates", "17"}};
};

std::string read_message(const fs::path& path) {
  return message_of<InputError>([&] { read_safetensors(path); });
}

std::string write_message(const fs::path& path) {
  const Sample sample;
  return message_of<std::runtime_error>(
      [&] { write_safetensors(path, sample.tensors, sample.metadata); });
}

// Returns the message for a file with this header and that many bytes of data.
std::string header_message(const std::string& json, std::size_t data_size) {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "x.safetensors";
  const std::uint64_t size = json.size();
  put_bytes(path, std::string(reinterpret_cast<const char*>(&size), sizeof size) + json +
                      std::string(data_size, '\0'));
  const std::string message = read_message(path);
  if (message == "nothing thrown") return message;
  const std::string start = path.string() + ": ";
  REQUIRE(message.starts_with(start));
  return message.substr(start.size());
}

bool same(const NamedTensor& a, const NamedTensor& b) {
  return a.name == b.name && a.shape == b.shape && a.data.size() == b.data.size() &&
         (a.data.empty() || std::memcmp(a.data.data(), b.data.data(), a.data.size_bytes()) == 0);
}

bool same(const SafetensorsFile& file, const Sample& sample) {
  if (file.tensors.size() != sample.tensors.size()) return false;
  for (const NamedTensor& tensor : sample.tensors)
    if (!same(file.find(tensor.name), tensor)) return false;
  return file.metadata == sample.metadata;
}

// The sample in a file.
struct SavedSample : TemporaryFolder, Sample {
  SavedSample() { write_safetensors(file, tensors, metadata); }
  fs::path file = path / "x.safetensors";
};

}  // namespace

TEST_CASE("safetensors: what was written is read back") {
  const SavedSample saved;
  const SafetensorsFile file = read_safetensors(saved.file);
  CHECK(same(file, saved));
  CHECK(file.tensors[0].name == "weights");
  CHECK(file.tensors[1].name == "step");
  CHECK(message_of<InputError>([&] { file.find("bias"); }) == "there is no tensor 'bias'");
  CHECK(std::distance(fs::directory_iterator(saved.path), {}) == 1);

  write_safetensors(saved.file, {}, {});
  CHECK(read_safetensors(saved.file).tensors.empty());
}

TEST_CASE("safetensors: a moved file keeps its tensors") {
  const SavedSample saved;
  SafetensorsFile first = read_safetensors(saved.file);
  const SafetensorsFile second = std::move(first);
  CHECK(same(second, saved));
}

TEST_CASE("safetensors: the same input gives the same bytes, data aligned to 8") {
  const TemporaryFolder folder;
  const Sample sample;
  write_safetensors(folder.path / "a", sample.tensors, sample.metadata);
  write_safetensors(folder.path / "b", sample.tensors, sample.metadata);
  const std::string bytes = bytes_of(folder.path / "a");
  CHECK(bytes == bytes_of(folder.path / "b"));
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  CHECK(header_size % 8 == 0);
  CHECK(bytes.size() == 8 + header_size + 7 * sizeof(float));
}

TEST_CASE("safetensors: half precision takes two bytes a number and is read rounded") {
  const TemporaryFolder folder;
  Sample sample;
  sample.weights[4] = 65504.0F;
  sample.step[0] = 1.0F / 3.0F;
  const fs::path path = folder.path / "x.safetensors";
  write_safetensors(path, sample.tensors, sample.metadata, Precision::half);
  const std::string bytes = bytes_of(path);
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  CHECK(bytes.size() == 8 + header_size + 7 * 2);
  const SafetensorsFile file = read_safetensors(path);
  CHECK(file.precision == Precision::half);
  CHECK(file.has_checksum);
  CHECK(std::ranges::equal(file.find("weights").data,
                           std::vector<float>{1.0F, -2.5F, 0.0F, 0.0F, 65504.0F, -0.0F}));
  CHECK(file.find("step").data[0] == 0x555p-12F);
  CHECK(file.find("none").data.empty());

  sample.weights[1] = -65505.0F;
  CHECK(contains(message_of<std::runtime_error>([&] {
                   write_safetensors(path, sample.tensors, sample.metadata, Precision::half);
                 }),
                 "tensor 'weights': -65505 in half precision; allowed: -65504 to 65504"));
  CHECK(bytes_of(path) == bytes);
}

TEST_CASE("safetensors: rounded to half precision twice, the bytes are the same") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "a", again = folder.path / "b", wide = folder.path / "c";
  Sample sample;
  sample.weights[4] = 2.0F / 3.0F;
  write_safetensors(path, sample.tensors, sample.metadata, Precision::half);
  const SafetensorsFile file = read_safetensors(path);
  write_safetensors(again, file.tensors, file.metadata, file.precision);
  CHECK(bytes_of(again) == bytes_of(path));
  write_safetensors(wide, file.tensors, file.metadata);
  CHECK(read_safetensors(wide).precision == Precision::single);
  CHECK(std::ranges::equal(read_safetensors(wide).storage, file.storage));
}

TEST_CASE("safetensors: tensors of two precisions in one file are read") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "x";
  const std::string json = R"({"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]},)"
                           R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})";
  const std::uint64_t size = json.size();
  put_bytes(path, std::string(reinterpret_cast<const char*>(&size), sizeof size) + json +
                      std::string("\x00\x3c\x00\x00\x00\xc0", 6));
  const SafetensorsFile file = read_safetensors(path);
  CHECK(file.find("a").data[0] == 1.0F);
  CHECK(file.find("b").data[0] == -2.0F);
  CHECK(file.precision == Precision::single);
}

TEST_CASE("safetensors: a file truncated anywhere is refused") {
  const SavedSample saved;
  const std::string bytes = bytes_of(saved.file);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    put_bytes(saved.file, bytes.substr(0, size));
    const std::string message = read_message(saved.file);
    INFO("size: " << size << ", message: " << message);
    CHECK(message.starts_with(saved.file.string() + ": "));
    CHECK((contains(message, "truncated") || size < 8));
  }
  put_bytes(saved.file, bytes + std::string(4, '\0'));
  CHECK(
      contains(read_message(saved.file), ": too long: 32 bytes of data, but its tensors take 28"));
}

TEST_CASE("safetensors: every altered byte is detected") {
  const SavedSample saved;
  const std::string bytes = bytes_of(saved.file);
  const std::size_t checksum = bytes.find("crc32");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // Without the name of the checksum entry nothing is checked.
    if (i >= checksum && i < checksum + 5) continue;
    std::string altered = bytes;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    put_bytes(saved.file, altered);
    INFO("byte: " << i);
    CHECK(read_message(saved.file).starts_with(saved.file.string() + ": "));
  }

  std::string altered = bytes;
  altered.back() = static_cast<char>(altered.back() ^ 0x40);
  put_bytes(saved.file, altered);
  CHECK(contains(read_message(saved.file), ": altered: its crc32 is "));
  altered = bytes;
  altered[bytes.find("17")] = '2';
  put_bytes(saved.file, altered);
  CHECK(contains(read_message(saved.file), ": altered: its crc32 is "));
}

TEST_CASE("safetensors: a file without a checksum is read") {
  CHECK(header_message(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8) ==
        "nothing thrown");
  CHECK(header_message("{}", 0) == "nothing thrown");
}

TEST_CASE("safetensors: other files are refused") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "x";
  CHECK(read_message(path) == path.string() + ": cannot be read: No such file or directory");
  CHECK(read_message(folder.path) == folder.path.string() + ": not a regular file");
  put_bytes(path, "text");
  CHECK(read_message(path) == path.string() + ": no safetensors file: under 8 bytes");
  put_bytes(path, "This is a text, not a checkpoint.");
  CHECK(contains(read_message(path), ": truncated or no safetensors file: header of "));
  CHECK(contains(header_message("{\"a\":", 0), "its header is not a JSON object"));
  CHECK(contains(header_message("[1]", 0), "its header is not a JSON object"));
  CHECK(contains(header_message("", 0), "its header is not a JSON object"));
}

TEST_CASE("safetensors: an inconsistent header is refused") {
  const auto tensor = [](const std::string& dtype, const std::string& shape,
                         const std::string& offsets) {
    return fmt::format(R"({{"dtype":"{}","shape":{},"data_offsets":{}}})", dtype, shape, offsets);
  };
  const auto one = [&](const std::string& dtype, const std::string& shape,
                       const std::string& offsets) {
    return header_message("{\"a\":" + tensor(dtype, shape, offsets) + "}", 8);
  };
  const auto two = [&](const std::string& first, const std::string& second) {
    return header_message(
        "{\"a\":" + tensor("F32", "[1]", first) + ",\"b\":" + tensor("F32", "[1]", second) + "}",
        8);
  };
  CHECK(one("F64", "[1]", "[0,8]") == "tensor 'a': type F64, allowed: F32, F16");
  CHECK(one("F32", "[3]", "[0,8]") == "tensor 'a': bytes 0 to 8, but its shape needs 12");
  CHECK(one("F32", "[2]", "[8,0]") == "tensor 'a': bytes 8 to 0, but its shape needs 8");
  CHECK(one("F32", "[4]", "[0,16]") == "truncated: 8 bytes of data, but its tensors take 16");
  CHECK(one("F32", "[4611686018427387904]", "[0,0]") == "tensor 'a': impossible shape");
  CHECK(one("F32", "[4294967296,4294967296]", "[0,0]") == "tensor 'a': impossible shape");
  for (const char* shape : {"[-2]", "[2.0]", "2", "null", "[\"2\"]", "[99999999999999999999]"})
    CHECK(one("F32", shape, "[0,8]") == "tensor 'a': malformed entry in the header");
  for (const char* offsets : {"[0]", "[0,8,8]", "[-8,0]", "8"})
    CHECK(one("F32", "[2]", offsets) == "tensor 'a': malformed entry in the header");
  CHECK(header_message(R"({"a":5})", 8) == "tensor 'a': malformed entry in the header");

  CHECK(two("[0,4]", "[4,8]") == "nothing thrown");
  CHECK(two("[4,8]", "[0,4]") == "nothing thrown");
  CHECK(two("[0,4]", "[0,4]") == "tensor 'b': begins at byte 0, not where the one before ends, 4");
  CHECK(two("[0,4]", "[8,12]") == "tensor 'b': begins at byte 8, not where the one before ends, 4");
  CHECK(one("F32", "[1]", "[4,8]") ==
        "tensor 'a': begins at byte 4, not where the one before ends, 0");
  CHECK(one("F32", "[1]", "[0,4]") == "too long: 8 bytes of data, but its tensors take 4");

  for (const char* metadata : {"5", "[\"a\"]", "{\"a\":1}", "\"a\""})
    CHECK(header_message(fmt::format("{{\"__metadata__\":{}}}", metadata), 0) ==
          "metadata that is not text by name");
}

TEST_CASE("safetensors: the message names a path that cannot be written") {
  const TemporaryFolder folder;
  const std::string missing = (folder.path / "missing" / "x").string();
  const std::string message = write_message(missing);
  CHECK(message.starts_with("cannot write " + missing + ": "));
  CHECK(contains(message, "No such file or directory"));
  put_bytes(folder.path / "file", "");
  CHECK(contains(write_message(folder.path / "file" / "x"), "Not a directory"));

  fs::create_directory(folder.path / "taken");
  CHECK(contains(write_message(folder.path / "taken"), "is a folder"));
  CHECK_FALSE(has_name_beside(folder.path));
  CHECK(contains(message_of<std::runtime_error>([&] {
                   write_safetensors(folder.path / "x", {}, {{"not UTF-8", "\xff"}});
                 }),
                 "cannot write "));
  CHECK_FALSE(fs::exists(folder.path / "x"));
}

TEST_CASE("safetensors: an existing file survives a write that fails half-way") {
  const SavedSample saved;

  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const std::string message = [&] {
    const LimitedFiles limited(100);
    return write_message(saved.file);
  }();
  std::signal(SIGXFSZ, old_handler);
  CHECK(contains(message, "File too large"));
  CHECK(same(read_safetensors(saved.file), saved));
  CHECK(std::distance(fs::directory_iterator(saved.path), {}) == 1);
}

}  // namespace saccade
