// The networks that read the whole canvas.
#include "agent/looking/canvas_network.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/agent/slopes.h"
#include "tests/agent/support.h"
#include "tests/guarded_matrix.h"
#include "tests/naive.h"
#include "tests/support.h"

namespace saccade {
namespace {

constexpr int kCanvasEpisodes = 4;
constexpr CanvasSizes kCanvasSizes{.channels = 2,
                                   .rows = 9,
                                   .cols = 7,
                                   .hidden = 5,
                                   .conv_channels = {3, 4},
                                   .kernel_size = 3,
                                   .features = 6};

// ---- A network with random parameters, canvases and gradients ----

struct PlayedCanvas {
  explicit PlayedCanvas(const std::string& kind, const CanvasSizes& sizes_ = kCanvasSizes)
      : sizes(sizes_),
        network(make_canvas_network(kind, sizes, layout)),
        memory(network->make_memory(kCanvasEpisodes)),
        parameters(zeros<1>(layout.size())),
        gradient(zeros<1>(layout.size())),
        canvases(kCanvasEpisodes, sizes.canvas_size()),
        feature(kCanvasEpisodes, sizes.features),
        dfeature(kCanvasEpisodes, sizes.features) {
    randomize(flat(parameters), layout, 0.4F, 5);
    RandomStream stream(6, Purpose::scene, 0, 0);
    for (int b = 0; b < kCanvasEpisodes; ++b)
      for (int i = 0; i < sizes.canvas_size(); ++i) canvases(b, i) = stream.uniform();
    dfeature.randomize(stream);
  }

  void forward() {
    feature.fill(NAN);
    network->forward(feature.view(), *memory, canvases.view(), flat(parameters));
  }
  /// Overwrites dfeature.
  void backward() {
    gradient.fill(NAN);  // gradients are overwritten, not accumulated
    network->backward(flat(gradient), *memory, dfeature.view(), feature.view(), canvases.view(),
                      flat(parameters));
  }

  CanvasSizes sizes;
  ParameterLayout layout;
  std::unique_ptr<CanvasNetwork> network;
  std::unique_ptr<CanvasMemory> memory;
  Tensor<1> parameters, gradient;
  GuardedMatrix canvases, feature, dfeature;  // all are parts of wider matrices
};

std::vector<CanvasSizes> all_sizes() {
  CanvasSizes grey = kCanvasSizes, even = kCanvasSizes, smallest = kCanvasSizes;
  grey.channels = 1;
  even.kernel_size = 4;
  smallest.rows = smallest.cols = smallest.kernel_size = 1;
  smallest.conv_channels = {8, 9};  // so that some are active
  return {kCanvasSizes, grey, even, smallest};
}

TEST_CASE("canvas networks: every gradient is the slope of the features in a random direction") {
  for (const std::string& kind : canvas_network_kinds())
    for (const CanvasSizes& sizes : all_sizes()) {
      CAPTURE(kind);
      CAPTURE(sizes.channels);
      CAPTURE(sizes.kernel_size);
      PlayedCanvas played(kind, sizes);
      const GuardedMatrix dfeature = played.dfeature, canvases = played.canvases;
      played.forward();
      played.backward();
      for (int b = 0; b < kCanvasEpisodes; ++b)
        for (int j = 0; j < sizes.features; ++j)
          CHECK(played.dfeature(b, j) == (played.feature(b, j) > 0.0F ? dfeature(b, j) : 0.0F));
      CHECK(played.canvases == canvases);

      for (const Parameter& p : played.layout.parameters()) {
        CAPTURE(p.name);
        check_random_slope(
            values_of(flat(played.parameters), p), values_of(flat(played.gradient), p), [&] {
              played.forward();
              return dot(NaiveMatrix(played.feature.view()), NaiveMatrix(dfeature.view()));
            });
      }
    }
}

TEST_CASE(
    "a canvas network has no hidden state: repeated passes over the same input give the same "
    "bits") {
  for (const std::string& kind : canvas_network_kinds()) {
    CAPTURE(kind);
    PlayedCanvas played(kind);
    const GuardedMatrix canvases = played.canvases, dfeature = played.dfeature;
    played.forward();
    played.backward();
    const GuardedMatrix feature = played.feature;
    const Tensor<1> gradient = played.gradient;

    RandomStream stream(8, Purpose::scene, 0, 0);
    played.canvases.randomize(stream);
    played.forward();
    played.backward();
    CHECK(!(played.feature == feature));

    played.canvases = canvases;
    played.dfeature = dfeature;
    played.forward();
    played.backward();
    CHECK(played.feature == feature);
    for (const Parameter& p : played.layout.parameters())
      CHECK(std::ranges::equal(values_of(flat(played.gradient), p), values_of(flat(gradient), p)));
  }
}

TEST_CASE("canvas networks start with He initialisation and zero biases") {
  const CanvasSizes sizes{.channels = 1,
                          .rows = 40,
                          .cols = 40,
                          .hidden = 50,
                          .conv_channels = {16, 32},
                          .kernel_size = 5,
                          .features = 60};
  for (const std::string& kind : canvas_network_kinds()) {
    CAPTURE(kind);
    PlayedCanvas played(kind, sizes);
    played.layout.initialize(flat(played.parameters), 3);
    for (const Parameter& p : played.layout.parameters()) {
      CAPTURE(p.name);
      double squares = 0.0;
      for (const float value : values_of(flat(played.parameters), p)) squares += value * value;
      const bool bias = p.rows == 1;
      const double expected = bias ? 0.0 : 2.0 / p.rows;  // the rows of a weight are its inputs
      CHECK(squares / static_cast<double>(p.size()) == doctest::Approx(expected).epsilon(0.15));
    }
  }
}

TEST_CASE("the work of a canvas network") {
  const CanvasSizes sizes{.channels = 1,
                          .rows = 60,
                          .cols = 60,
                          .hidden = 100,
                          .conv_channels = {16, 32},
                          .kernel_size = 5,
                          .features = 256};
  ParameterLayout mlp_layout, cnn_layout;
  const Work mlp_work = make_canvas_network("mlp", sizes, mlp_layout)->work();
  CHECK(mlp_work.forward == 3600 * 100 + 100 * 256);
  CHECK(mlp_work.backward == 3600 * 100 + 2 * 100 * 256);
  const Work cnn_work = make_canvas_network("cnn", sizes, cnn_layout)->work();
  const int conv1 = 30 * 30 * 25 * 16, conv2 = 15 * 15 * 25 * 16 * 32, feature = 15 * 15 * 32 * 256;
  CHECK(cnn_work.forward == conv1 + conv2 + feature);
  CHECK(cnn_work.backward == conv1 + 2 * conv2 + 2 * feature);
}

TEST_CASE("canvas networks refuse invalid settings by key") {
  const auto fault = [](const std::string& kind, const CanvasSizes& sizes) {
    return message_of<InputError>([&] {
      ParameterLayout layout;
      make_canvas_network(kind, sizes, layout);
    });
  };
  CHECK(fault("transformer", kCanvasSizes) ==
        "unknown model.kind 'transformer'; allowed: mlp, cnn");

  CanvasSizes sizes = kCanvasSizes;
  sizes.kernel_size = 0;
  CHECK(fault("cnn", sizes) ==
        "model.kernel_size: 0 pixels, where layer 1 sees 9 x 7; allowed: 1 to the shorter side "
        "(7)");
  CHECK(fault("mlp", sizes) == "nothing thrown");
  sizes.kernel_size = 8;
  CHECK(fault("cnn", sizes) ==
        "model.kernel_size: 8 pixels, where layer 1 sees 9 x 7; allowed: 1 to the shorter side "
        "(7)");
  sizes.kernel_size = 5;
  CHECK(fault("cnn", sizes) ==
        "model.kernel_size: 5 pixels, where layer 2 sees 5 x 4; allowed: 1 to the shorter side "
        "(4)");
  sizes = kCanvasSizes;
  sizes.conv_channels = {0, 4};
  CHECK(fault("cnn", sizes) == "model.channels: [0, 4]; allowed: 1 and more");
  CHECK(fault("mlp", sizes) == "nothing thrown");
  sizes.conv_channels = {3, -1};
  CHECK(fault("cnn", sizes) == "model.channels: [3, -1]; allowed: 1 and more");
}

}  // namespace
}  // namespace saccade
