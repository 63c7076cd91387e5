#include "python/bindings/worlds.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "base/name_table.h"

namespace saccade::python {

SharedDatasets& shared_datasets() {
  static SharedDatasets datasets(/*keeps_last=*/false);
  return datasets;
}

Dataset digit_set(const Pixels& images, const Labels& labels, const std::string& images_name,
                  const std::string& labels_name) {
  constexpr int kMostClasses = 1'000'000;
  const std::size_t count = images.shape(0);
  if (count == 0 || labels.shape(0) != count)
    throw InputError(fmt::format("{}: {} for {} {}; allowed: one for each, and some", labels_name,
                                 labels.shape(0), count, images_name));
  if (const auto channels = images.shape(3); channels != 1 && channels != 3)
    throw InputError(fmt::format("{}: {} channels; allowed: 1 or 3", images_name, channels));
  Dataset set;
  set.images.resize({count, images.shape(1), images.shape(2), images.shape(3)});
  std::copy_n(images.data(), images.size(), set.images.data());
  set.labels.resize({count});
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t label = labels.data()[i];
    if (label < 0 || label >= kMostClasses)
      throw InputError(
          fmt::format("{}[{}]: {}; allowed: 0 to {}", labels_name, i, label, kMostClasses - 1));
    set.labels(i) = static_cast<int>(label);
    set.classes = std::max(set.classes, set.labels(i) + 1);
  }
  return set;
}

namespace {

bool are_of(const Digits& digits, const Pixels& images, const Labels& labels,
            const std::vector<std::string>& class_names) {
  if (digits.class_names != class_names) return false;
  const Dataset& set = digits.train;
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (set.images.shape()[axis] != images.shape(axis)) return false;
  return set.labels.size() == labels.size() &&
         std::equal(set.labels.begin(), set.labels.end(), labels.data()) &&
         std::equal(set.images.begin(), set.images.end(), images.data());
}

}  // namespace

void require_names(Dataset& set, const std::vector<std::string>& class_names) {
  const int names = static_cast<int>(class_names.size());
  if (names < set.classes)
    throw InputError(fmt::format("class_names: {} for classes 0 to {}; allowed: one for each",
                                 names, set.classes - 1));
  set.classes = names;
}

std::shared_ptr<const Digits> digits_of(const Pixels& images, const Labels& labels,
                                        const std::vector<std::string>& given_names) {
  Dataset set = digit_set(images, labels);
  std::vector<std::string> class_names = given_names;
  if (class_names.empty())
    for (int c = 0; c < set.classes; ++c) class_names.push_back(std::to_string(c));
  require_names(set, class_names);
  static std::mutex mutex;
  static std::vector<std::weak_ptr<const Digits>> known;
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& digits) { return digits.expired(); });
  for (const auto& place : known)
    if (auto shared = place.lock(); shared && are_of(*shared, images, labels, class_names))
      return shared;

  Digits digits;
  digits.train = digits.valid = set;
  digits.test = std::move(set);
  digits.class_names = std::move(class_names);
  auto shared = std::make_shared<const Digits>(std::move(digits));
  known.emplace_back(shared);
  return shared;
}

Split split_named(const std::string& name) {
  static const NameTable<Split> table(
      "split", {{"train", Split::train}, {"valid", Split::valid}, {"test", Split::test}});
  return table.at(name);
}

std::unique_ptr<const World> make_world(const Config& config,
                                        std::shared_ptr<const Digits> digits) {
  if (!digits) return std::make_unique<const World>(config, &shared_datasets());
  if (!find_task_kind(config.scene.kind).has_digits)
    throw InputError(fmt::format("images: given, but scene.kind: {} shows none; allowed: none",
                                 config.scene.kind));
  return std::make_unique<const World>(config, std::move(digits));
}

}  // namespace saccade::python
