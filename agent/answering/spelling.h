#pragma once

#include <span>
#include <vector>

#include "agent/answering/decoder.h"
#include "agent/credit/reward.h"
#include "env/environment.h"
#include "nn/tensor.h"

namespace saccade {

/// Decodes V sequences for each of B episodes, each from a different number of its states. Row v B
/// + b is version v of episode b, of R = V B rows. Allocates nothing after construction.
class Spelling {
 public:
  /// Keeps references. `steps` is T.
  Spelling(const Decoder& decoder, const Environment& environment, int steps, int versions);

  /// Decodes all rows from the states h_1 .. h_T (T B, H), of which row r reads the first
  /// lengths[r] (R): symbol by symbol, after the true preceding symbols if `forced` (teacher
  /// forcing), else after its own.
  void decode(ConstMatrix states, std::span<const int> lengths, bool forced,
              std::span<const float> parameters);

  // After decode, of a row:

  /// The most probable symbols (J), those after an end mark included.
  std::span<const int> predictions(int row) const {
    return std::span(predictions_).subspan(static_cast<std::size_t>(row) * symbols(), symbols());
  }
  /// The probability of the symbols up to the first end mark, which is included.
  float probability(int row) const;
  /// The mean, over the symbols of the label, of what the reward pays for each.
  float worth(int row, const RewardKind& reward, const OwnValues& own) const;
  /// The cross-entropy of the label, nats, summed over its symbols.
  double loss(int row) const;
  /// Probabilities and logits (J, R, V), and where the decoder attended to.
  const DecoderMemory& memory() const { return memory_; }

  /// Returns sum_r weights[r] loss(r), and from `scale` times it overwrites the gradients of the
  /// decoder and adds to dstates (T B, H).
  double backward(std::span<float> gradient, Matrix dstates, std::span<const double> weights,
                  float scale, ConstMatrix states, std::span<const float> parameters);
  /// The same from the gradient by the logits, (J R, V).
  void logits_backward(std::span<float> gradient, Matrix dstates, ConstMatrix dlogits,
                       ConstMatrix states, std::span<const float> parameters);

 private:
  int symbols() const { return memory_.symbols(); }
  int rows() const { return memory_.episodes(); }
  int end_mark() const { return decoder_.num_symbols() - 1; }
  const SceneFacts& facts(int row) const {
    return environment_.facts()[row % environment_.episodes()];
  }
  /// Returns the end mark for positions after the end mark.
  int true_symbol(int row, int j) const {
    return j < facts(row).num_symbols ? facts(row).symbols[j] : end_mark();
  }
  double loss_of(int row, int j) const;  // - log p of the true symbol j
  ConstMatrix each_version(ConstMatrix states);
  void decoder_backward(std::span<float> gradient, Matrix dstates, ConstMatrix states,
                        std::span<const float> parameters);

  const Decoder& decoder_;
  const Environment& environment_;
  int versions_;
  DecoderMemory memory_;
  std::vector<int> previous_;     // (R)
  std::vector<int> predictions_;  // (R, J)
  Tensor<3> dlogits_;             // (J, R, V)
  Tensor<3> states_, dstates_;    // (T, R, H): those of each version; empty if there is one
};

}  // namespace saccade
