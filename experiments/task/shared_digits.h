#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "env/digits.h"

namespace saccade {

/// Digit sets that several tasks share, on any thread: each is read once, and kept as long as a
/// task has it or no other was asked for since.
class SharedDigits {
 public:
  /// Throws InputError as load_digits does.
  std::shared_ptr<const Digits> load(const DataConfig& config);

 private:
  using Key = std::tuple<std::string, std::string, int>;  // every member of a DataConfig

  std::mutex mutex_;  // held while a set is read: who wants the same waits for it
  std::map<Key, std::weak_ptr<const Digits>> sets_;
  std::shared_ptr<const Digits> last_;
};

}  // namespace saccade
