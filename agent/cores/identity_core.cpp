#include "agent/cores/core.h"
#include "nn/layers.h"

namespace saccade {
namespace {

class IdentityCore final : public Core {
 public:
  explicit IdentityCore(int features) : Core({features, features}) {}

  void forward(CoreMemory& memory, int t, std::span<const float>) const override {
    copy_rows(memory.state(t + 1), memory.feature(t));
  }

  void step_backward(CoreMemory&, int, std::span<const float>) const override {}

  void feature_backward(Matrix dfeatures, CoreMemory& memory, int first, int count,
                        std::span<const float>) const override {
    copy_rows(dfeatures, memory.steps_of(memory.dstate, first, count));
  }

  void weight_backward(std::span<float>, CoreMemory&) const override {}

  Work work(int) const override { return {}; }
};

}  // namespace

std::unique_ptr<Core> make_identity_core(int features) {
  return std::make_unique<IdentityCore>(features);
}

}  // namespace saccade
