#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "env/digits.h"

namespace saccade {

/// A cache of datasets for several tasks; thread-safe. Each dataset is read once and kept while a
/// task uses it and, with `keeps_last`, until another one is requested.
class SharedDatasets {
 public:
  explicit SharedDatasets(bool keeps_last = true) : keeps_last_(keeps_last) {}

  /// Throws InputError as load_digits does.
  std::shared_ptr<const Digits> load(const DataConfig& config);

 private:
  using Key = std::tuple<std::string, std::string, int, OwnValues>;  // every member of a DataConfig

  const bool keeps_last_;
  std::mutex mutex_;  // held while a dataset is read, so that others who need it wait
  std::map<Key, std::weak_ptr<const Digits>> sets_;
  std::shared_ptr<const Digits> last_;
};

}  // namespace saccade
