#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/setting.h"
#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// Allowed sharpness and gain of a gate.
inline constexpr Interval kGateAlpha = closed(1e-4, 1000);
inline constexpr Interval kGateGain = closed(1e-4, 8192);

/// Attention over the components of the core's input at a step. Keys: attention.input.<..>
struct InputConfig {
  std::string kind = "none";  // one of input_kinds()
  double alpha = 1.0;  // inverse temperature, in kGateAlpha; the initial value if it is learned
  bool learn_alpha = false;
  double gain = 1.0;  // in kGateGain: the core reads gain x g; the width of x makes the mean gate 1
};

Settings describe(InputConfig& config);

std::vector<std::string> input_kinds();  // none, gate
/// Whether an InputGate weighs the core's input.
bool input_has_gate(const std::string& kind);

/// Workspace of a gate for B episodes of T steps.
struct GateMemory {
  Tensor<3> weights;     // (T, B, F): g_t
  Tensor<3> activation;  // (T, B, F): a_t
  Tensor<3> dlogits;     // (T, B, F): before the sigmoid
  Tensor<3> dalpha;      // (T, B, 1): gradient of alpha
};

/// The gate of kind `gate` on a core's input:
///   a_t = sigmoid(W_ha h_{t-1} + W_xa x_t + b_a), g_t = softmax(alpha a_t), y_t = gain x_t * g_t.
/// Order of calls: forward for steps 0 .. T - 1; step_backward for T - 1 .. 0; finish. Only
/// make_memory allocates.
class InputGate {
 public:
  /// Parameters `<name>.state.weight` (H, F), `<name>.input.weight` (F, F), `<name>.bias` (1, F)
  /// and, if alpha is learned, `<name>.log_alpha` (1, 1). Throws InputError naming
  /// attention.input.alpha or .gain if it is out of its range. `layout` must outlive it.
  InputGate(const InputConfig& config, const std::string& name, int features, int state,
            ParameterLayout& layout);

  GateMemory make_memory(int steps, int episodes) const;

  /// Writes y_t (B, F) from x_t (B, F) and h_{t-1} (B, H), which has no data for h_0 = 0.
  void forward(Matrix y, GateMemory& memory, int t, ConstMatrix x, ConstMatrix state,
               std::span<const float> parameters) const;
  /// Overwrites dx (B, F) and adds to dstate (B, H), which has no data at t = 0 or if detached.
  void step_backward(Matrix dx, Matrix dstate, GateMemory& memory, int t, ConstMatrix dy,
                     ConstMatrix x, std::span<const float> parameters) const;
  /// After all steps: overwrites the parameter gradients. inputs (T B, F) are all x_t, states (T B,
  /// H) all h_{t-1}: row t B + b. The states of step 0 are not read: h_0 = 0.
  void finish(std::span<float> gradient, GateMemory& memory, ConstMatrix inputs, ConstMatrix states,
              std::span<const float> parameters) const;

  /// The value of alpha in these parameters.
  float alpha(std::span<const float> parameters) const;

  /// Multiply-adds of an episode of T steps. The first step skips the product with h_0 = 0.
  Work work(int steps) const;

 private:
  int features_, state_;
  float alpha_, gain_;
  const ParameterLayout& layout_;
  int state_weight_, input_weight_, bias_;
  int log_alpha_ = -1;  // -1: not learned
};

}  // namespace saccade
