// Standardised pixels: networks read (pixel - mean) / deviation.
#include "agent/spec/pixel_scale.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/agent/agents.h"
#include "tests/agent/played.h"
#include "tests/support.h"

namespace saccade {
namespace {

constexpr float kMean = 0.25F, kDeviation = 0.5F;

ObservationSpec scaled_spec() {
  ObservationSpec spec = kTinySpec;
  spec.pixels = PixelScale({.mean = {kMean}, .deviation = {kDeviation}}, 1);
  return spec;
}

// Returns weights that give for raw pixels what `parameters` give for scaled ones: in the layers
// that read pixels, w / deviation and b - mean / deviation sum w.
Tensor<1> folded(const Model& model, Tensor<1> parameters) {
  const std::string first =
      model.config().model.glimpse_network == "conv" ? "glimpse.filters" : "glimpse.what";
  for (const std::string& layer : {first, std::string("locator.context")}) {
    const auto all = model.layout().parameters();
    if (std::ranges::find(all, layer + ".weight", &Parameter::name) == all.end()) continue;
    const Parameter& weight = find_parameter(model.layout(), layer + ".weight");
    const std::span<float> w = values_of(flat(parameters), weight);
    const std::span<float> b =
        values_of(flat(parameters), find_parameter(model.layout(), layer + ".bias"));
    for (std::size_t i = 0; i < w.size(); ++i) {
      w[i] /= kDeviation;
      b[i % b.size()] -= kMean * w[i];
    }
  }
  return parameters;
}

}  // namespace

TEST_CASE(
    "pixel scaling subtracts the channel's mean and divides by its deviation, in every scale; "
    "gradients follow") {
  const PixelScale scale({.mean = {0.5, 0.25, 0.0}, .deviation = {0.5, 0.25, 2.0}}, 3);
  CHECK_FALSE(scale.is_identity());
  constexpr int kPlane = 2, kScales = 2;
  Tensor<2> pixels = zeros<2>(2, kScales * 3 * kPlane);
  for (float& pixel : pixels) pixel = 1.0F;
  Tensor<2> gradient = pixels;
  scale.forward(matrix(pixels), kPlane);
  scale.backward(matrix(gradient), kPlane);
  const std::vector<float> row = {1, 1, 3, 3, 0.5, 0.5, 1, 1, 3, 3, 0.5, 0.5};
  const std::vector<float> by = {2, 2, 4, 4, 0.5, 0.5, 2, 2, 4, 4, 0.5, 0.5};
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 12; ++i) {
      CHECK(pixels(n, i) == row[i]);
      CHECK(gradient(n, i) == by[i]);
    }
}

TEST_CASE("a single number applies to all channels, and mean 0 with deviation 1 changes nothing") {
  CHECK(PixelScale({}, 3).is_identity());
  CHECK(PixelScale({.mean = {0, 0, 0}, .deviation = {1}}, 3).is_identity());
  const PixelScale scale({.mean = {0.5}, .deviation = {0.25}}, 3);
  CHECK(scale.mean() == std::vector<float>{0.5, 0.5, 0.5});
  CHECK(scale.gain() == std::vector<float>{4, 4, 4});
  CHECK_THROWS_WITH_AS(PixelScale({.mean = {0.5, 0.5}, .deviation = {1}}, 3),
                       "data.mean: 2 numbers, where images have 3 channels; allowed: 1 or 3",
                       InputError);
  CHECK_THROWS_WITH_AS(PixelScale({.mean = {0}, .deviation = {1, 1, 1}}, 1),
                       "data.deviation: 3 numbers, where images have 1 channel; allowed: 1",
                       InputError);
}

TEST_CASE("scaled pixels equal raw pixels with adjusted weights of the first layers") {
  for (const auto& [name, config] : every_agent(tiny_config())) {
    CAPTURE(name);
    if (config.glimpse.kind == "whole" || config.model.kind != "recurrent")
      continue;                                                // has no layer that
                                                               // reads pixels
    if (config.model.glimpse_network == "residual") continue;  // pads scaled pixels with zeros
    const Model scaled(config, scaled_spec()), plain(config, kTinySpec);
    Tensor<1> parameters = zeros<1>(scaled.layout().size());
    randomize(flat(parameters), scaled.layout(), 0.4F, 5);
    const Tensor<1> others = folded(plain, parameters);
    Rollout one(scaled, tiny_environment(kEpisodes, 1));
    Rollout other(plain, tiny_environment(kEpisodes, 1));
    const RolloutRequest request{.first_scene = kFirstScene, .seed = 11};
    one.run(flat(parameters), request);
    other.run(flat(others), request);
    CHECK(relative_error(values_of(one.core.all_states()), values_of(other.core.all_states())) <
          1e-4);
    if (one.look->glimpses.size() == 0) continue;
    CHECK(relative_error(values_of(matrix(one.look->glimpses)),
                         values_of(matrix(other.look->glimpses))) < 1e-3);
  }
}

}  // namespace saccade
