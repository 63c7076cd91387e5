#include "experiments/files/npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <xtensor/xadapt.hpp>
#include <xtensor/xnpy.hpp>

#include "base/output.h"

namespace saccade {
namespace {

constexpr zip_uint16_t kMidnight = 0, kFirstOf1980 = (1 << 5) | 1;  // zip's time format

std::string to_npy(const NpzArray& array) {
  return std::visit(
      [&](const auto& values) { return xt::dump_npy(xt::adapt(values, array.shape)); },
      array.values);
}

void add_file(zip_t* archive, const std::string& name, const std::string& bytes,
              const std::function<void()>& fail) {
  zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  if (source == nullptr) fail();
  const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    fail();
  }
  const auto file = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, file, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, file, kMidnight, kFirstOf1980, 0) != 0)
    fail();
}

}  // namespace

void write_npz(const std::filesystem::path& path, std::vector<NpzArray> arrays) {
  errno = 0;
  std::unique_ptr<zip_t, decltype(&zip_discard)> archive(
      zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr), &zip_discard);
  if (!archive) cannot_be_written(path);
  const auto fail = [&] {
    throw std::runtime_error(
        fmt::format("{}: cannot be written: {}", path.string(), zip_strerror(archive.get())));
  };
  std::vector<std::string> files;  // must stay alive until the archive is closed
  files.reserve(arrays.size());
  for (NpzArray& array : arrays) {
    files.push_back(to_npy(array));
    array.values = {};
    add_file(archive.get(), array.name + ".npy", files.back(), fail);
  }
  if (zip_close(archive.get()) != 0) fail();
  (void)archive.release();
}

}  // namespace saccade
