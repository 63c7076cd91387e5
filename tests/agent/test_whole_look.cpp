// The core's inputs for a whole canvas, and that the policy `scan` visits a bag's tiles.
#include <doctest/doctest.h>

#include <numeric>

#include "env/scene_layout.h"
#include "tests/agent/tasks.h"

namespace saccade {
namespace {

TEST_CASE("a whole canvas is read row by row, or at once") {
  constexpr int kEpisodes = 3;
  const Task task = bag_task();
  for (const std::string& order : reading_orders()) {
    CAPTURE(order);
    AgentConfig config = tiny_config();
    config.glimpse.kind = "whole";
    config.glimpse.order = order;
    const Model model(config, task.spec);
    CHECK_FALSE(model.look().looks);
    CHECK_FALSE(model.baseline.has_value());
    for (const Parameter& p : model.layout().parameters()) {
      CHECK_FALSE(p.name.starts_with("locator."));
      CHECK_FALSE(p.name.starts_with("glimpse."));
    }
    CHECK(model.num_glimpses() == (order == "rows" ? 12 : 1));
    CHECK(model.look().feature_size == (order == "rows" ? 12 : 144));

    Tensor<1> parameters = zeros<1>(model.layout().size());
    model.layout().initialize(flat(parameters), 1);
    Rollout rollout(model, task.environments(kEpisodes, 1));
    rollout.run(flat(parameters), {.first_scene = 5});
    const auto environment = task.environments(kEpisodes, 1);
    environment->reset(5);
    Tensor<2> canvases = zeros<2>(kEpisodes, 144);
    environment->view(matrix(canvases));
    for (int b = 0; b < kEpisodes; ++b) {
      std::vector<float> read;
      for (int t = 0; t < model.num_glimpses(); ++t) {
        const ConstMatrix feature = rollout.core.feature(t);
        read.insert(read.end(), feature.row(b), feature.row(b) + feature.cols);
      }
      CHECK(std::ranges::equal(read, std::span(&canvases(b, 0), 144)));
      CHECK(std::accumulate(read.begin(), read.end(), 0.0F) > 1.0F);
    }
  }
}

TEST_CASE("the policy scan visits the centres of a bag's tiles") {
  for (int count = 1; count <= kMaxDigits; ++count) {
    const TileGrid tiles = tile_grid(count);
    for (int k = 0; k < count; ++k) {
      CAPTURE(count);
      CAPTURE(k);
      Tensor<2> sample = zeros<2>(1, 2);
      find_policy("scan")(matrix(sample),
                          {.t = k, .num_glimpses = count, .mean = {}, .target = {}, .streams = {}});
      const auto centre = [](int tile, int n) { return (2.0 * tile + 1.0) / n - 1.0; };
      CHECK(sample(0, 0) == doctest::Approx(centre(k % tiles.cols, tiles.cols)).epsilon(1e-6));
      CHECK(sample(0, 1) == doctest::Approx(centre(k / tiles.cols, tiles.rows)).epsilon(1e-6));
    }
  }
}

}  // namespace
}  // namespace saccade
