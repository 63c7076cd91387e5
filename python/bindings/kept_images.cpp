#include "python/bindings/kept_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "nn/random.h"

namespace saccade::python {
namespace {

namespace fs = std::filesystem;

void require_every_class(const Dataset& set) {
  std::vector<bool> there(static_cast<std::size_t>(set.classes));
  for (const int label : set.labels) there[label] = true;
  const auto gap = std::ranges::find(there, false);
  if (gap != there.end())
    throw InputError(
        fmt::format("labels: {} is the largest, but no image is of class {}; allowed: 0 to C - 1, "
                    "some images of each",
                    set.classes - 1, gap - there.begin()));
}

void require_fits(const Dataset& test, const Dataset& train) {
  const auto size = [](const Dataset& set) {
    return fmt::format("{} x {} x {}", set.rows(), set.cols(), set.channels());
  };
  if (size(test) != size(train))
    throw InputError(fmt::format(
        "test_images: of {}, but images of {} (rows x cols x channels); allowed: one size",
        size(test), size(train)));
  if (test.classes > train.classes)
    throw InputError(fmt::format("test_labels: {}; allowed: 0 to {}, the classes of labels",
                                 test.classes - 1, train.classes - 1));
}

// Returns digits order(first) .. order(first + count - 1) of a set.
Dataset drawn(const Dataset& set, const RandomPermutation& order, int first, int count) {
  const std::size_t pixels = set.images.size() / set.labels.size();  // per image
  Dataset part;
  part.classes = set.classes;
  auto shape = set.images.shape();
  shape[0] = static_cast<std::size_t>(count);
  part.images.resize(shape);
  part.labels.resize({shape[0]});
  for (int i = 0; i < count; ++i) {
    const int from = order(first + i);
    std::copy_n(set.images.data() + pixels * from, pixels, part.images.data() + pixels * i);
    part.labels(i) = set.labels(from);
  }
  return part;
}

std::unique_ptr<OutputFolder> folder_beside(const fs::path& target) {
  try {
    return std::make_unique<OutputFolder>(target);
  } catch (const std::runtime_error&) {
    throw InputError(
        fmt::format("{}: the folder cannot be made; XDG_CACHE_HOME names another place for arrays",
                    target.string()));
  }
}

// Keeps the existing folder if another process was first.
void commit(const OutputFolder& beside, const fs::path& target) {
  try {
    beside.commit();
  } catch (const std::runtime_error&) {
    if (!fs::is_directory(target)) throw;
  }
}

}  // namespace

fs::path keep_images(const Dataset& images, const std::optional<Dataset>& test,
                     const std::vector<std::string>& class_names, const std::string& name,
                     std::uint64_t seed) {
  constexpr int kTestShare = 6;
  if (class_names.empty()) require_every_class(images);
  if (test) require_fits(*test, images);
  const int count = images.size(), num_test = test ? 0 : std::max(count / kTestShare, 1);
  if (count - num_test < kValidShare)
    throw InputError(fmt::format("images: {}; allowed: at least {} for training{}", count,
                                 kValidShare, test ? "" : ", and a sixth more for the test"));
  if (cache_folder().empty())
    throw InputError("images: no folder to keep them in; XDG_CACHE_HOME or HOME names one");
  const fs::path folder = fs::absolute(cache_folder() / "arrays" / name);
  if (fs::is_directory(folder)) return folder;

  const RandomPermutation order(count, seed, Purpose::folder_split, 0);
  const std::unique_ptr<OutputFolder> beside = folder_beside(folder);
  write_idx(beside->path(), drawn(images, order, 0, count - num_test),
            test ? *test : drawn(images, order, count - num_test, num_test));
  if (!class_names.empty()) write_class_names(beside->path(), class_names);
  commit(*beside, folder);
  return folder;
}

}  // namespace saccade::python
