#include "env/image_cache.h"

#include <stdexcept>
#include <system_error>

#include "base/checksum.h"
#include "base/output.h"
#include "base/read_text.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr const char *kTrain = "-train.idx", *kTest = "-test.idx", *kKey = ".txt";

std::string write_images(const fs::path& path, const Dataset& set) {
  OutputFile file(path, /*force=*/true);
  const std::string checksum = write_idx_images(file.path(), set);
  file.commit();
  return checksum;
}

}  // namespace

ImageCache::ImageCache(const fs::path& cache, const std::string& source, const std::string& key)
    : key_(source + '\n' + key) {
  if (!cache.empty()) name_ = cache / crc32_of(source.data(), source.size()).hex();
}

bool ImageCache::read(Dataset& train, Dataset& test) const {
  if (name_.empty()) return false;
  try {
    const std::string text = read_text(file(kKey));
    return text.starts_with(key_) &&
           text == key_ + read_idx_images(file(kTrain), train) + read_idx_images(file(kTest), test);
  } catch (const std::runtime_error&) {
    return false;
  }
}

void ImageCache::write(const Dataset& train, const Dataset& test) const {
  if (name_.empty()) return;
  std::error_code ignored;
  fs::create_directories(file(kKey).parent_path(), ignored);
  try {
    replace_text(file(kKey),
                 key_ + write_images(file(kTrain), train) + write_images(file(kTest), test));
  } catch (const std::runtime_error&) {  // no space or permission: they are decoded again next time
  }
}

}  // namespace saccade
