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

/// Throws InputError naming the keys for sizes H of the states and kinds of attention over them
/// that a decoder cannot read by.
void check(const DecoderConfig& config, const HiddenConfig& hidden, int state_size);

/// What a decoder keeps of B episodes of T states and at most J symbols.
struct DecoderMemory {
  CoreMemory core;                     // reads [y_{j-1} one-hot | c_{j-1}], writes s_j
  std::optional<AttendMemory> attend;  // of kind attend
  HiddenMemory first;                  // of c_0, the last state
  std::optional<HiddenMemory> steady;  // of the context that never changes, of the other kinds
  Tensor<2> mask;                      // (B, T): 1 where a state may be read
  Tensor<2> first_context;             // (B, H): c_0
  Tensor<3> joint, djoint;             // (J, B, Hd + H): [s_j | c_j]
  Tensor<3> logits, probabilities;     // (J, B, V): after step(), of symbol j
  Tensor<2> dinput;                    // (B, V + H)
  Tensor<2> dcontext;                  // (B, H)

  int symbols() const { return core.steps; }
  int episodes() const { return core.episodes(); }
};

/// Says a sequence of symbols from the states h_1 .. h_T of an encoder, one symbol a step, by
/// attention over them (Luong, Pham and Manning 2015, with input feeding, section 3.3):
///   s_j = core([y_{j-1} | c_{j-1}], s_{j-1}),  s_0 = 0,  c_0 = the last state,
///   c_j = attend(query s_j, values h_1 .. h_T),  p(y_j) = softmax(W [s_j | c_j] + b).
/// attention.hidden.kind: `attend`; for comparison `last` and `mean`, whose c_j is always the last
/// state (Cho et al. 2014) or the mean of the states.
class Decoder {
 public:
  /// Parameters are called `decoder.*`. `num_symbols` is V. Throws InputError as check() does.
  Decoder(const DecoderConfig& config, const HiddenConfig& hidden, int num_symbols, int state_size,
          int steps, ParameterLayout& layout);

  DecoderMemory make_memory(int symbols, int episodes) const;

  /// states (T B, H), row t B + b, of which the first lengths[b] of an episode count. Throws
  /// InputError where kind attend may read none of them.
  void begin(DecoderMemory& memory, ConstMatrix states, std::span<const int> lengths,
             std::span<const float> parameters) const;
  /// Writes probabilities(j). `previous` (B): the symbols before it; not used at j = 0.
  void step(DecoderMemory& memory, int j, std::span<const int> previous, ConstMatrix states,
            std::span<const float> parameters) const;
  /// After all J steps: writes the parameter gradients and adds to dstates. dlogits (J B, V).
  void backward(std::span<float> gradient, Matrix dstates, DecoderMemory& memory,
                ConstMatrix dlogits, ConstMatrix states, std::span<const float> parameters) const;

  /// Gives every row of the next step the past of another row: row r that of parents[r] (B). For
  /// beams; after step(j).
  void reorder(DecoderMemory& memory, int j, std::span<const int> parents) const;

  bool attends() const { return attend_.has_value(); }
  int num_symbols() const { return num_symbols_; }
  Work work(int symbols) const;

 private:
  Matrix context(DecoderMemory& memory, int j) const;
  Matrix state(DecoderMemory& memory, int j) const;

  DecoderConfig config_;
  int num_symbols_, state_size_, steps_;
  std::string mask_;
  std::unique_ptr<const Core> core_;
  std::unique_ptr<const HiddenAttention> last_;
  std::unique_ptr<const HiddenAttention> steady_;  // of kinds last and mean
  std::optional<Attend> attend_;
  LinearHead output_;
};

}  // namespace saccade
