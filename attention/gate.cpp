#include "attention/gate.h"

#include <algorithm>
#include <cmath>

#include "attention/setting_range.h"
#include "base/name_table.h"
#include "nn/gemm.h"
#include "nn/layers.h"
#include "nn/rows.h"

namespace saccade {
namespace {

// Whether each kind has a gate.
const NameTable<bool>& kinds() {
  static const NameTable<bool> table{"attention.input.kind", {{"none", false}, {"gate", true}}};
  return table;
}

float checked(const char* key, double value, const Interval& range) {
  check_range(std::string("attention.input.") + key, value, range);
  return static_cast<float>(value);
}

// g (n) = softmax(alpha a), y = gain x g
void gate_forward(float* __restrict y, float* __restrict g, const float* __restrict a,
                  const float* __restrict x, int n, float alpha, float gain) {
  const float largest = *std::max_element(a, a + n);
  for (int i = 0; i < n; ++i) g[i] = alpha * (a[i] - largest);
  exp(g, n);
  const float scale = 1.0F / sum(g, n);
  for (int i = 0; i < n; ++i) {
    g[i] *= scale;
    y[i] = gain * x[i] * g[i];
  }
}

// Writes the part of dx (n) that passes through y alone, and dz, before the sigmoid. Returns
// dalpha.
float gate_backward(float* __restrict dx, float* __restrict dz, const float* __restrict dy,
                    const float* __restrict g, const float* __restrict a, const float* __restrict x,
                    int n, float alpha, float gain) {
  for (int i = 0; i < n; ++i) {
    dx[i] = gain * dy[i] * g[i];
    dz[i] = gain * dy[i] * x[i];
  }
  const float mean = dot(dz, g, n);
  for (int i = 0; i < n; ++i) dz[i] = g[i] * (dz[i] - mean);
  const float dalpha = dot(dz, a, n);
  for (int i = 0; i < n; ++i) dz[i] *= alpha * a[i] * (1.0F - a[i]);
  return dalpha;
}

}  // namespace

Settings describe(InputConfig& config) {
  const Condition gate = when(&config.kind, input_kinds(), input_has_gate);
  return {
      {"attention.input.kind", &config.kind, input_kinds(),
       "Attention over the components of the core's input"},
      {"attention.input.alpha", &config.alpha, kGateAlpha, "Sharpness of the gate's softmax", gate},
      {"attention.input.learn_alpha", &config.learn_alpha, kUnbounded, "Whether alpha is trained",
       gate},
      {"attention.input.gain", &config.gain, kGateGain, "Factor on the gated input", gate}};
}

std::vector<std::string> input_kinds() { return kinds().names(); }
bool input_has_gate(const std::string& kind) { return kinds().at(kind); }

InputGate::InputGate(const InputConfig& config, const std::string& name, int features, int state,
                     ParameterLayout& layout)
    : features_(features),
      state_(state),
      alpha_(checked("alpha", config.alpha, kGateAlpha)),
      gain_(checked("gain", config.gain, kGateGain)),
      layout_(layout) {
  const Initial initial = uniform_fan_in(state + features);
  state_weight_ = layout.add(name + ".state.weight", state, features, initial);
  input_weight_ = layout.add(name + ".input.weight", features, features, initial);
  bias_ = layout.add(name + ".bias", 1, features, constant(0));
  if (config.learn_alpha)
    log_alpha_ = layout.add(name + ".log_alpha", 1, 1, constant(std::log(alpha_)));
}

GateMemory InputGate::make_memory(int steps, int episodes) const {
  return {.weights = zeros<3>(steps, episodes, features_),
          .activation = zeros<3>(steps, episodes, features_),
          .dlogits = zeros<3>(steps, episodes, features_),
          .dalpha = zeros<3>(steps, episodes, 1)};
}

void InputGate::forward(Matrix y, GateMemory& memory, int t, ConstMatrix x, ConstMatrix state,
                        std::span<const float> parameters) const {
  const Matrix a = step(memory.activation, t), g = step(memory.weights, t);
  linear_forward(a, x, layout_.view(parameters, input_weight_), layout_.view(parameters, bias_));
  if (state.data != nullptr) multiply(a, state, layout_.view(parameters, state_weight_), 1.0F);
  sigmoid(a.data, a.rows * a.cols);
  for (int b = 0; b < a.rows; ++b)
    gate_forward(y.row(b), g.row(b), a.row(b), x.row(b), features_, alpha(parameters), gain_);
}

void InputGate::step_backward(Matrix dx, Matrix dstate, GateMemory& memory, int t, ConstMatrix dy,
                              ConstMatrix x, std::span<const float> parameters) const {
  const ConstMatrix a = step(memory.activation, t), g = step(memory.weights, t);
  const Matrix dz = step(memory.dlogits, t);
  for (int b = 0; b < a.rows; ++b)
    memory.dalpha(t, b, 0) = gate_backward(dx.row(b), dz.row(b), dy.row(b), g.row(b), a.row(b),
                                           x.row(b), features_, alpha(parameters), gain_);
  multiply_transposed_b(dx, dz, layout_.view(parameters, input_weight_), 1.0F);
  if (dstate.data != nullptr)
    multiply_transposed_b(dstate, dz, layout_.view(parameters, state_weight_), 1.0F);
}

void InputGate::finish(std::span<float> gradient, GateMemory& memory, ConstMatrix inputs,
                       ConstMatrix states, std::span<const float> parameters) const {
  const ConstMatrix dz = matrix(memory.dlogits);
  linear_backward(layout_.view(gradient, input_weight_), layout_.view(gradient, bias_), dz, inputs);
  const Matrix dw = layout_.view(gradient, state_weight_);
  const int first = static_cast<int>(memory.weights.shape()[1]), rows = dz.rows - first;
  if (rows > 0)
    multiply_transposed_a(dw, states.row_range(first, rows), dz.row_range(first, rows));
  else
    for (int r = 0; r < dw.rows; ++r) std::fill_n(dw.row(r), dw.cols, 0.0F);
  if (log_alpha_ >= 0)
    layout_.view(gradient, log_alpha_)(0, 0) =
        alpha(parameters) * sum(memory.dalpha.data(), static_cast<int>(memory.dalpha.size()));
}

float InputGate::alpha(std::span<const float> parameters) const {
  return log_alpha_ < 0 ? alpha_ : std::exp(layout_.view(parameters, log_alpha_)(0, 0));
}

Work InputGate::work(int steps) const {
  return linear_work(features_, features_) * steps + linear_work(state_, features_) * (steps - 1);
}

}  // namespace saccade
