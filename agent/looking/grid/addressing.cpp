#include "agent/looking/grid/addressing.h"

#include <utility>
#include <vector>

#include "agent/looking/locator.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// A score whose keys are the context's, one per episode, or empty. In its memory `query` is the
// locator's hidden layer.
class LocationScore final : public Score {
 public:
  LocationScore(const ModelConfig& model, int num_candidates, Input state, ParameterLayout& layout)
      : state_(state),
        locator_(model.hidden_size, model.locator_hidden, "logits",
                 std::vector<float>(num_candidates, 0.0F), layout) {}

  ScoreMemory make_memory(int steps, int episodes, int keys, KeyOrder order) const override {
    return {steps, episodes, keys, locator_.hidden_size(), 0, order};
  }

  void prepare(ScoreMemory&, ConstMatrix, std::span<const float>) const override {}

  void forward(Matrix scores, ScoreMemory& memory, int t, ConstMatrix query, ConstMatrix keys,
               std::span<const float> parameters) const override {
    locator_.forward(scores, step(memory.query, t), query, parameters, keys);
  }

  void backward(Matrix dquery, ScoreMemory& memory, int t, ConstMatrix dscores, ConstMatrix,
                ConstMatrix, std::span<const float> parameters) const override {
    copy_rows(step(memory.dscores, t), dscores);
    locator_.activation_backward(step(memory.dquery, t), dscores, step(memory.query, t),
                                 parameters);
    if (dquery.data != nullptr) locator_.state_backward(dquery, step(memory.dquery, t), parameters);
  }

  void finish(std::span<float> gradient, Matrix dkeys, ScoreMemory& memory, int first,
              ConstMatrix queries, ConstMatrix, std::span<const float>) const override {
    const int skipped = first * memory.episodes, rows = queries.rows - skipped;
    const auto from_first = [&](Tensor<3>& tensor) {
      return matrix(tensor).row_range(skipped, rows);
    };
    if (rows > 0)
      locator_.weight_backward(gradient, from_first(memory.dquery), from_first(memory.dscores),
                               from_first(memory.query), queries.row_range(skipped, rows));
    Locator::context_backward(dkeys, from_first(memory.dquery));
  }

  Work work(int steps, int) const override { return locator_.work(state_) * steps; }

 private:
  Input state_;
  Locator locator_;
};

}  // namespace

bool addresses_by_content(const GlimpseConfig& config) { return config.addressing == "content"; }

std::unique_ptr<const Score> make_addressing(const AgentConfig& config, int num_candidates,
                                             Input state, ParameterLayout& layout) {
  const GlimpseConfig& glimpse = config.glimpse;
  if (!addresses_by_content(glimpse))
    return std::make_unique<LocationScore>(config.model, num_candidates, state, layout);
  return make_score(glimpse.score, "locator.score", config.model.hidden_size,
                    config.model.feature_size, glimpse.score_hidden, layout);
}

}  // namespace saccade
