// Benchmarks the kernels of a training step (see CONTRIBUTING.md). The figures in the README come
// from `saccade bench`, which measures the whole.
#include <benchmark/benchmark.h>

#include "agent/cores/core.h"
#include "agent/looking/canvas_network.h"
#include "env/glimpse_environment.h"
#include "nn/gemm.h"

namespace saccade {
namespace {

constexpr int kEpisodes = 64;  // one lane
constexpr int kSteps = 8;

// Products of the shapes (M, N, K) of ram60.
void product(benchmark::State& state, void (*multiply_as)(Matrix, ConstMatrix, ConstMatrix, float),
             bool transpose_a, bool transpose_b) {
  const auto m = static_cast<int>(state.range(0)), n = static_cast<int>(state.range(1)),
             k = static_cast<int>(state.range(2));
  Tensor<2> a = transpose_a ? zeros<2>(k, m) : zeros<2>(m, k);
  Tensor<2> b = transpose_b ? zeros<2>(n, k) : zeros<2>(k, n);
  Tensor<2> c = zeros<2>(m, n);
  for (auto _ : state) multiply_as(matrix(c), matrix(a), matrix(b), 0.0F);
  state.counters["flops"] =
      benchmark::Counter(2.0 * m * n * k, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(product, forward, multiply, false, false)
    ->Args({kEpisodes, 128, 432})
    ->Args({kEpisodes, 256, 256})
    ->Args({kEpisodes, 256, 512})
    ->Args({1024, 1024, 1024});
BENCHMARK_CAPTURE(product, weight_gradient, multiply_transposed_a, true, false)
    ->Args({432, 128, kEpisodes* kSteps})
    ->Args({256, 256, kEpisodes* kSteps});
BENCHMARK_CAPTURE(product, input_gradient, multiply_transposed_b, false, true)
    ->Args({kEpisodes, 256, 256})
    ->Args({kEpisodes * kSteps, 256, 256});

// 100 artificial digits.
Dataset make_digits() {
  Dataset digits;
  digits.images = xt::xtensor<std::uint8_t, 4>::from_shape({100, 28, 28, 1});
  digits.labels = xt::xtensor<int, 1>::from_shape({100});
  digits.classes = 10;
  RandomStream stream(1, Purpose::synthetic_digits, 0, 0);
  for (std::uint8_t& pixel : digits.images)
    pixel = static_cast<std::uint8_t>(stream.below(5) == 0 ? stream.below(256) : 0);
  for (int& label : digits.labels) label = stream.below(10);
  return digits;
}

void scenes(benchmark::State& state, const AugmentationConfig& augmentation) {
  const Dataset digits = make_digits();
  const SceneMaker scenes({}, augmentation, digits, DigitOrder::shuffled, 1);
  GlimpseEnvironment environment(scenes, Retina({}, 60, 60, 1), kEpisodes, 1);
  std::uint64_t first = 0;
  for (auto _ : state) environment.reset(first += kEpisodes);
  state.SetItemsProcessed(state.iterations() * kEpisodes);
}
BENCHMARK_CAPTURE(scenes, plain, AugmentationConfig{});
BENCHMARK_CAPTURE(scenes, augmented, AugmentationConfig{.rotation = 10, .scale = 0.1});

void looks(benchmark::State& state, bool smoothly) {
  const Dataset digits = make_digits();
  const SceneMaker scenes({}, {}, digits, DigitOrder::shuffled, 1);
  GlimpseEnvironment environment(scenes, Retina({}, 60, 60, 1), kEpisodes, 1);
  Tensor<2> locations = zeros<2>(kEpisodes, 2);
  Tensor<2> glimpses = zeros<2>(kEpisodes, environment.glimpse_size());
  Tensor<2> slopes = zeros<2>(kEpisodes, 2 * environment.glimpse_size());
  RandomStream stream(1, Purpose::policy_noise, 0, 0);
  for (float& l : locations) l = stream.uniform(-1.0F, 1.0F);
  environment.reset(0);
  for (auto _ : state)
    if (smoothly)
      environment.look_smoothly(matrix(locations), matrix(glimpses), matrix(slopes));
    else
      environment.look(matrix(locations), matrix(glimpses));
  state.SetItemsProcessed(state.iterations() * kEpisodes);
}
BENCHMARK_CAPTURE(looks, rounded, false);
BENCHMARK_CAPTURE(looks, smooth, true);

void core_episode(benchmark::State& state, const char* kind) {
  ParameterLayout layout;
  const auto core = make_core(kind, "core", {256, 128}, layout);
  Tensor<1> parameters = zeros<1>(layout.size()), gradient = zeros<1>(layout.size());
  layout.initialize(flat(parameters), 1);
  CoreMemory memory = core->make_memory(kSteps, kEpisodes);
  Tensor<2> dfeatures = zeros<2>(kSteps * kEpisodes, 256);
  for (auto _ : state) {
    for (int t = 0; t < kSteps; ++t) core->forward(memory, t, flat(parameters));
    core->backward(flat(gradient), matrix(dfeatures), memory, flat(parameters));
  }
  state.SetItemsProcessed(state.iterations() * kEpisodes);
}
BENCHMARK_CAPTURE(core_episode, rnn, "rnn");
BENCHMARK_CAPTURE(core_episode, lstm, "lstm");
BENCHMARK_CAPTURE(core_episode, gru, "gru");
BENCHMARK_CAPTURE(core_episode, attention, "attention");

// Forward and backward pass over a lane of 60 x 60 canvases.
void canvas_network(benchmark::State& state, const char* kind, std::array<int, 2> conv_channels) {
  const CanvasSizes sizes{.channels = 1,
                          .rows = 60,
                          .cols = 60,
                          .hidden = 256,
                          .conv_channels = conv_channels,
                          .kernel_size = 5,
                          .features = 256};
  ParameterLayout layout;
  const auto network = make_canvas_network(kind, sizes, layout);
  Tensor<1> parameters = zeros<1>(layout.size()), gradient = zeros<1>(layout.size());
  layout.initialize(flat(parameters), 1);
  const auto memory = network->make_memory(kEpisodes);
  Tensor<2> canvases = zeros<2>(kEpisodes, sizes.canvas_size());
  RandomStream stream(1, Purpose::scene, 0, 0);
  for (float& pixel : canvases) pixel = stream.uniform();
  Tensor<2> feature = zeros<2>(kEpisodes, sizes.features), dfeature = feature;
  dfeature.fill(1.0F);
  for (auto _ : state) {
    network->forward(matrix(feature), *memory, matrix(canvases), flat(parameters));
    network->backward(flat(gradient), *memory, matrix(dfeature), matrix(feature), matrix(canvases),
                      flat(parameters));
  }
  state.SetItemsProcessed(state.iterations() * kEpisodes);
  const Work work = network->work() * kEpisodes;
  state.counters["flops"] =
      benchmark::Counter(2.0 * static_cast<double>(work.forward + work.backward),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(canvas_network, mlp, "mlp", {16, 32});
BENCHMARK_CAPTURE(canvas_network, cnn, "cnn", {16, 32});
BENCHMARK_CAPTURE(canvas_network, wide_cnn, "cnn", {32, 64});

}  // namespace
}  // namespace saccade

BENCHMARK_MAIN();
