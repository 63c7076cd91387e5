#include "python/bindings/own_parts.h"

#include "python/bindings/own_reward.h"
#include "python/bindings/own_world.h"

namespace saccade::python {

namespace nb = nanobind;

PythonParts::Splits::Splits(nb::handle blocks)
    : train(blocks[0]), valid(blocks[1]), test(blocks[2]) {}

PythonParts::PythonParts(nb::handle parts) {
  if (const nb::object blocks = parts.attr("blocks"); !blocks.is_none()) splits_.emplace(blocks);
  if (const nb::object world = parts.attr("world"); !world.is_none()) world_ = python_worlds(world);
  if (const nb::object reward = parts.attr("reward"); !reward.is_none())
    reward_ = python_reward(reward);
}

OwnParts PythonParts::get() const {
  return {.scenes = splits_ ? &splits_->scenes : nullptr,
          .world = world_ ? &world_ : nullptr,
          .reward = reward_ ? &reward_ : nullptr};
}

}  // namespace saccade::python
