#pragma once

#include "attention/score.h"

namespace saccade {

/// Base of scores without parameters that compare one query with one key, both `width` wide: a
/// score is then its value and its gradient. Slower than a score that works on whole matrices.
class PairwiseScore : public Score {
 public:
  explicit PairwiseScore(const ScoreSizes& sizes) : width_(sizes.key) {}

  ScoreMemory make_memory(int steps, int episodes, int keys, KeyOrder order) const override;
  void prepare(ScoreMemory&, ConstMatrix, std::span<const float>) const override {}
  void forward(Matrix scores, ScoreMemory& memory, int t, ConstMatrix query, ConstMatrix keys,
               std::span<const float> parameters) const override;
  void backward(Matrix dquery, ScoreMemory& memory, int t, ConstMatrix dscores, ConstMatrix query,
                ConstMatrix keys, std::span<const float> parameters) const override;
  void finish(std::span<float> gradient, Matrix dkeys, ScoreMemory& memory, int first,
              ConstMatrix queries, ConstMatrix keys,
              std::span<const float> parameters) const override;
  Work work(int steps, int keys) const override { return linear_work(width_, keys) * steps; }

 protected:
  using Vector = std::span<const float>;  // (width)

  virtual float value(Vector query, Vector key) const = 0;
  /// Adds `dscore` times the derivative of the value by `of`, which is the query or the key, to
  /// `d`; `other` is the other one. The value must be symmetric in the two.
  virtual void add_gradient(std::span<float> d, float dscore, Vector of, Vector other) const = 0;

 private:
  int width_;
};

/// ScoreKind::make of such a score. Its kind needs equal widths.
template <class T>
std::unique_ptr<Score> make_pairwise_score(const std::string&, ScoreSizes sizes, ParameterLayout&) {
  return std::make_unique<T>(sizes);
}

}  // namespace saccade
