// The program `saccade` with a world of its own, a bar that lies or stands somewhere on the canvas,
// and a score of its own, the higher the closer a key is to the query.
#include "attention/pairwise_score.h"
#include "env/drawn_environment.h"
#include "env/task_kinds.h"
#include "experiments/program/program.h"

using namespace saccade;

EnvironmentSizes sizes_of(const SceneConfig& scene) {
  return {.num_classes = 2, .canvas = {1, scene.canvas[0], scene.canvas[1]}};
}

class Bars : public DrawnEnvironment {
 public:
  explicit Bars(const EnvironmentRequest& r)
      : DrawnEnvironment(sizes_of(r.scene), *r.retina, r.split, r.seed, r.episodes, r.rollouts),
        length_(r.scene.own.get<int>("scene.bars.length")) {}

 private:
  void draw(RandomStream& stream, std::span<std::uint8_t> pixels, SceneFacts& facts) override {
    const auto [channels, rows, cols] = canvas();
    facts.label = facts.classes[0] = stream.below(2);
    const int width = facts.label == 0 ? length_ : 1, height = facts.label == 0 ? 1 : length_;
    const int x = stream.below(cols - width + 1), y = stream.below(rows - height + 1);
    for (int i = 0; i < length_; ++i) pixels[(y + i % height) * cols + x + i % width] = 255;
    facts.boxes[0] = {.x = x, .y = y, .width = width, .height = height};
  }

  int length_;
};

class Distance : public PairwiseScore {  // -|s - h|^2 / 2
  using PairwiseScore::PairwiseScore;

  float value(Vector query, Vector key) const override {
    float sum = 0.0F;
    for (std::size_t i = 0; i < key.size(); ++i) sum += (query[i] - key[i]) * (query[i] - key[i]);
    return -0.5F * sum;
  }
  void add_gradient(std::span<float> d, float dscore, Vector of, Vector other) const override {
    for (std::size_t i = 0; i < d.size(); ++i) d[i] += dscore * (other[i] - of[i]);
  }
};

void register_kinds() {
  register_task_kind(
      "bars",
      {.make = make_environment<Bars>,
       .sizes = [](const SceneConfig& scene, const Dataset&) { return sizes_of(scene); },
       .answer_name = [](const SceneConfig&, const std::vector<std::string>&,
                         int label) { return std::string(label == 0 ? "lies" : "stands"); }},
      {{"length", 5, closed(2, 8), "Length of the bar, in pixels"}});
  register_score("distance", {.make = make_pairwise_score<Distance>, .needs_equal_widths = true});
}

int main(int argc, char** argv) { return run_program(argc, argv, register_kinds); }
