#include "experiments/task/data_summary.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "env/digits.h"

namespace saccade {
namespace {

// "cat 40, dog 38": the classes with their number of images over all sets; only the first ones if
// there are many.
std::string count_classes(const Digits& digits) {
  constexpr std::size_t kShown = 10;
  std::vector<int> counts(digits.class_names.size());
  for (const Dataset* set : {&digits.train, &digits.valid, &digits.test})
    for (const int label : set->labels) ++counts[static_cast<std::size_t>(label)];
  std::vector<std::string> words;
  for (std::size_t k = 0; k < std::min(kShown, counts.size()); ++k)
    words.push_back(fmt::format("{} {}", digits.class_names[k], counts[k]));
  if (counts.size() > kShown) words.push_back("...");
  return fmt::format("{} classes ({})", counts.size(), fmt::join(words, ", "));
}

}  // namespace

std::string data_summary(const Config& config, const Digits& digits) {
  const Dataset &train = digits.train, &valid = digits.valid, &test = digits.test;
  return fmt::format(
      "data: {} images of {} x {} pixels{}, {}, {}\n"
      "  {} for training, {} for validation ({}), {} for the test ({})\n",
      train.size() + valid.size() + test.size(), train.rows(), train.cols(),
      config.data.size > 0 ? " (resized: data.size)" : "",
      train.channels() == 3 ? "in colour" : "grey", count_classes(digits), train.size(),
      valid.size(), digits.valid_origin, test.size(), digits.test_origin);
}

}  // namespace saccade
