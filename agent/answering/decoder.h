#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "agent/cores/core.h"
#include "agent/spec/config.h"
#include "attention/attend.h"
#include "attention/hidden.h"
#include "nn/linear_head.h"
#include "nn/parameters.h"

namespace saccade {

/// Throws InputError naming the keys for state sizes H and kinds of hidden-state attention that a
/// decoder cannot use.
void check(const DecoderConfig& config, const HiddenConfig& hidden, int state_size);

/// Workspace of a decoder for B episodes of T states and at most J symbols.
struct DecoderMemory {
  CoreMemory core;                     // reads [y_{j-1} one-hot | c_{j-1}], writes s_j
  std::optional<AttendMemory> attend;  // for kind attend
  HiddenMemory first;                  // for c_0, the last state
  std::optional<HiddenMemory> steady;  // for the other kinds: the context, the same at every step
  Tensor<2> mask;                      // (B, T): 1 where a state may be read
  Tensor<2> first_context;             // (B, H): c_0
  Tensor<3> joint, djoint;             // (J, B, Hd + H): [s_j | c_j]
  Tensor<3> logits, probabilities;     // (J, B, V): after step(), of symbol j
  Tensor<2> dinput;                    // (B, V + H)
  Tensor<2> dcontext;                  // (B, H)

  int symbols() const { return core.steps; }
  int episodes() const { return core.episodes(); }
};

/// Decodes a sequence of symbols from the states h_1 .. h_T of an encoder, one symbol per step,
/// with attention over the states (Luong, Pham and Manning 2015, with input feeding, section 3.3):
///   s_j = core([y_{j-1} | c_{j-1}], s_{j-1}),  s_0 = 0,  c_0 = the last state,
///   c_j = attend(query s_j, values h_1 .. h_T),  p(y_j) = softmax(W [s_j | c_j] + b).
/// attention.hidden.kind is `attend`, or for comparison `last` or `mean`, where every c_j is the
/// last state (Cho et al. 2014) or the mean of the states.
class Decoder {
 public:
  /// Parameters are named `decoder.*`. `num_symbols` is V. Throws InputError as check() does.
  Decoder(const DecoderConfig& config, const HiddenConfig& hidden, int num_symbols, int state_size,
          int steps, ParameterLayout& layout);

  DecoderMemory make_memory(int symbols, int episodes) const;

  /// states (T B, H), row t B + b; only the first lengths[b] states of an episode count. Throws
  /// InputError if kind attend may read none of them.
  void begin(DecoderMemory& memory, ConstMatrix states, std::span<const int> lengths,
             std::span<const float> parameters) const;
  /// Whether every episode has a state to read then.
  bool may_read(std::span<const int> lengths) const;
  /// Writes probabilities(j). `previous` (B): the preceding symbols; unused at j = 0.
  void step(DecoderMemory& memory, int j, std::span<const int> previous, ConstMatrix states,
            std::span<const float> parameters) const;
  /// After all J steps: overwrites the parameter gradients and adds to dstates. dlogits (J B, V).
  void backward(std::span<float> gradient, Matrix dstates, DecoderMemory& memory,
                ConstMatrix dlogits, ConstMatrix states, std::span<const float> parameters) const;

  /// For beam search, after step(j): row r continues from the past of row parents[r] (B).
  void reorder(DecoderMemory& memory, int j, std::span<const int> parents) const;

  bool attends() const { return attend_.has_value(); }
  int num_symbols() const { return num_symbols_; }
  int state_size() const { return state_size_; }
  Work work(int symbols) const;

 private:
  bool allowed(int t) const { return mask_.empty() || mask_[t] == '1'; }
  Matrix context(DecoderMemory& memory, int j) const;
  Matrix state(DecoderMemory& memory, int j) const;

  DecoderConfig config_;
  int num_symbols_, state_size_, steps_;
  std::string mask_;
  std::unique_ptr<const Core> core_;
  std::unique_ptr<const HiddenAttention> last_;
  std::unique_ptr<const HiddenAttention> steady_;  // for kinds last and mean
  std::optional<Attend> attend_;
  LinearHead output_;
};

}  // namespace saccade
