#include "experiments/task/shared_digits.h"

namespace saccade {

std::shared_ptr<const Digits> SharedDatasets::load(const DataConfig& config) {
  const auto& [source, path, size, own] = config;  // all members: does not compile if one is added
  const std::lock_guard guard(mutex_);
  std::weak_ptr<const Digits>& kept = sets_[{source, path, size, own}];
  std::shared_ptr<const Digits> digits = kept.lock();
  if (!digits) digits = std::make_shared<const Digits>(load_digits(config));
  kept = digits;
  if (keeps_last_) last_ = digits;
  return digits;
}

}  // namespace saccade
