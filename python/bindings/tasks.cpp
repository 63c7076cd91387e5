#include "python/bindings/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "nn/error.h"
#include "nn/name_table.h"

namespace saccade::python {

std::shared_ptr<const Digits> digits_of(const Config& config) {
  static std::mutex mutex;
  static std::map<std::tuple<std::string, std::string, int>, std::weak_ptr<const Digits>> known;
  const DataConfig& data = config.data;
  const std::lock_guard lock(mutex);
  std::weak_ptr<const Digits>& place = known[{data.source, data.path, data.size}];
  std::shared_ptr<const Digits> digits = place.lock();
  if (!digits) place = digits = std::make_shared<const Digits>(load_digits(data));
  return digits;
}

std::shared_ptr<const Digits> digits_of(const Pixels& images, const Labels& labels) {
  constexpr int kMostClasses = 1'000'000;
  const std::size_t count = images.shape(0);
  if (count == 0 || labels.shape(0) != count)
    throw InputError(fmt::format("labels: {} for {} images; allowed: one for each, and some",
                                 labels.shape(0), count));
  if (const auto channels = images.shape(3); channels != 1 && channels != 3)
    throw InputError(fmt::format("images: {} channels; allowed: 1 or 3", channels));
  DigitSet set;
  set.images.resize({count, images.shape(1), images.shape(2), images.shape(3)});
  std::copy_n(images.data(), images.size(), set.images.data());
  set.labels.resize({count});
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t label = labels.data()[i];
    if (label < 0 || label >= kMostClasses)
      throw InputError(fmt::format("labels[{}]: {}; allowed: 0 to {}", i, label, kMostClasses - 1));
    set.labels(i) = static_cast<int>(label);
    set.classes = std::max(set.classes, set.labels(i) + 1);
  }
  Digits digits{.train = set, .valid = set, .test = std::move(set)};
  for (int c = 0; c < digits.train.classes; ++c) digits.class_names.push_back(std::to_string(c));
  return std::make_shared<const Digits>(std::move(digits));
}

Split split_named(const std::string& name) {
  static const NameTable<Split> table(
      "split", {{"train", Split::train}, {"valid", Split::valid}, {"test", Split::test}});
  return table.at(name);
}

std::shared_ptr<const Task> make_task(const Config& config, std::shared_ptr<const Digits> digits) {
  if (!find_task_kind(config.scene.kind).has_digits) return std::make_shared<const Task>(config);
  return std::make_shared<const Task>(config, digits ? std::move(digits) : digits_of(config));
}

}  // namespace saccade::python
