#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "experiments/task/own_parts.h"
#include "python/bindings/own_scenes.h"

namespace saccade::python {

/// What a saccade._own_parts.OwnParts has: `blocks`, a tuple of Blocks to train on, to choose by
/// and to test; `world`, an OwnWorlds; `reward`, an OwnReward; None where there is none. The caller
/// keeps it alive. Made with the interpreter's lock.
class PythonParts {
 public:
  explicit PythonParts(nanobind::handle parts);
  PythonParts(const PythonParts&) = delete;
  PythonParts& operator=(const PythonParts&) = delete;

  /// Refers to this object.
  OwnParts get() const;

 private:
  struct Splits {
    explicit Splits(nanobind::handle blocks);

    PythonScenes train, valid, test;
    const OwnScenes scenes{train, valid, test};
  };

  std::optional<Splits> splits_;
  OwnWorldMaker world_;
  RewardFunction reward_;
};

}  // namespace saccade::python
