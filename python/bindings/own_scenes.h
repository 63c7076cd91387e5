#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>

#include "experiments/task/scene_blocks.h"

namespace saccade::python {

/// Scenes of a saccade._own_scenes.Blocks: called with numbers (N) as int64, it returns canvases
/// (N, rows, cols, channels) as bytes, labels (N) as int64, and boxes (N, K, 4) as int64. Any
/// thread may call read(), without the interpreter's lock.
class PythonScenes final : public SceneBlocks {
 public:
  /// Keeps a reference to `blocks`, which the caller keeps alive; called with the interpreter's
  /// lock.
  explicit PythonScenes(nanobind::handle blocks);

  std::int64_t size() const override { return size_; }
  /// Throws std::runtime_error with the type and the text of what Python raised.
  void read(std::span<const std::int64_t> numbers, SceneBlock& block) override;

 private:
  const nanobind::handle blocks_;
  const std::int64_t size_;
};

}  // namespace saccade::python
