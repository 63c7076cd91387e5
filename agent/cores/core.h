#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nn/gemm.h"
#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// Sizes of a core.
struct CoreSizes {
  int features = 0;  // F: width of its input at a step
  int hidden = 0;    // H: width of its state
  int heads = 4;     // attention core: number of heads, a divisor of H
  int depth = 1;     // attention core: number of layers
};

/// Workspace that only one kind of core needs: gates, cells, weights.
struct CoreExtension {
  virtual ~CoreExtension() = default;
};

/// Workspace of a core for B episodes of T steps. [g_t | h_{t-1}] lie side by side, so that one
/// product multiplies both; h_t is written straight into the input of the next step.
struct CoreMemory {
  CoreMemory(int steps, int episodes, const CoreSizes& sizes,
             std::unique_ptr<CoreExtension> extension = nullptr);

  int steps, features, hidden;
  Tensor<3> input;            // (T + 1, B, F + H): [g_{t+1} | h_t]; h_0 = 0, and the last has no g
  Tensor<3> ungated;          // (T, B, F): g_1 .. g_T before an input gate; empty without one
  Tensor<3> dstate;           // (T, B, H): in backward, gradients of h_1 .. h_T
  TransposedCopy transposed;  // (N, F + H): weights that every step of backward reads
  std::unique_ptr<CoreExtension> extension;

  /// The core's input at step t (B, F); write it before forward(t).
  Matrix feature(int t) { return step(input, t).columns(0, features); }
  /// g_{t+1} (B, F): the same as feature(t), except before an input gate.
  Matrix glimpse_feature(int t) { return ungated.size() > 0 ? step(ungated, t) : feature(t); }
  /// h_t (B, H), t in 0 .. T.
  Matrix state(int t) { return step(input, t).columns(features, hidden); }
  /// Rows of `count` steps of a (T, B, width) tensor, as (count B, width).
  Matrix steps_of(Tensor<3>& tensor, int first, int count) const {
    return matrix(tensor).row_range(first * episodes(), count * episodes());
  }
  /// The core's inputs, g_1 .. g_T, and h_0 .. h_{T-1}: (T B, F), (T B, F), (T B, H).
  Matrix all_features() { return matrix(input).columns(0, features).row_range(0, rows()); }
  Matrix all_glimpse_features() { return ungated.size() > 0 ? matrix(ungated) : all_features(); }
  Matrix all_states() { return matrix(input).columns(features, hidden).row_range(0, rows()); }
  /// h_1 .. h_T (T B, H)
  Matrix states() { return matrix(input).columns(features, hidden).row_range(episodes(), rows()); }

  int episodes() const { return static_cast<int>(input.shape()[1]); }
  int rows() const { return steps * episodes(); }
};

/// Replaces row r by the former row parents[r].
void reorder_rows(Matrix rows, std::span<const int> parents);

/// The recurrent network h_t = core(g_t, h_{t-1}) with h_0 = 0, or h_t = core(g_1 .. g_t).
class Core {
 public:
  explicit Core(const CoreSizes& sizes)
      : sizes_(sizes), features_(sizes.features), hidden_(sizes.hidden) {}
  virtual ~Core() = default;

  virtual CoreMemory make_memory(int steps, int episodes) const {
    return {steps, episodes, sizes_};
  }

  /// Step t in 0 .. T - 1: reads feature(t) and state(t), writes state(t + 1).
  virtual void forward(CoreMemory& memory, int t, std::span<const float> parameters) const = 0;

  /// Backward pass, from t = T - 1 to 0. Before the first call, memory.dstate must hold the
  /// gradients that reach h_1 .. h_T from elsewhere. Step t reads and overwrites the gradient of
  /// h_{t+1} and adds to that of h_t, to which the caller may still add before step t - 1.
  virtual void step_backward(CoreMemory& memory, int t,
                             std::span<const float> parameters) const = 0;
  /// After step_backward of these steps: writes the gradients of g_{first+1} .. as dfeatures (count
  /// B, F).
  virtual void feature_backward(Matrix dfeatures, CoreMemory& memory, int first, int count,
                                std::span<const float> parameters) const = 0;
  /// After all steps: overwrites the core's parameter gradients.
  virtual void weight_backward(std::span<float> gradient, CoreMemory& memory) const = 0;

  /// The whole backward pass, if nothing else is added between steps: dfeatures (T B, F).
  void backward(std::span<float> gradient, Matrix dfeatures, CoreMemory& memory,
                std::span<const float> parameters) const;

  /// For beam search, after step t: episode b continues from the past of episode parents[b] (B).
  /// Only for cores that carry all memory in their state. Allocates.
  virtual void reorder(CoreMemory& memory, int t, std::span<const int> parents) const {
    reorder_rows(memory.state(t + 1), parents);
  }

  /// The attention weights of step t of episode b over steps 0 .. t, after forward(t): rows that
  /// sum to 1, (depth * heads, t + 1), layer by layer from the first. A view of the memory; no data
  /// for a core without attention.
  virtual ConstMatrix attention(const CoreMemory&, int /*t*/, int /*b*/) const { return {}; }
  /// Number of rows of attention(): 0 for a core without attention.
  virtual int attention_rows() const { return 0; }

  /// Multiply-adds of an episode of T steps. The first step skips the product with h_0 = 0.
  virtual Work work(int steps) const = 0;

 protected:
  CoreSizes sizes_;
  int features_, hidden_;
};

/// `rnn`: h = relu(W_g g + W_h h + b), with W_h initialised to the identity (Le et al. 2015);
/// `lstm` (Hochreiter and Schmidhuber 1997, forget bias initialised to 1); `gru` (Cho et al. 2014,
/// with the reset gate after the product); `feedforward`: h_t = relu(W g_t + b), without memory;
/// `attention`: causal multi-head self-attention over g_1 .. g_t (Vaswani et al. 2017; layers of
/// attention/transformer.h). Parameters are named `<name>.<..>`. Throws InputError as check_core
/// does. `layout` must outlive it.
std::unique_ptr<Core> make_core(const std::string& kind, const std::string& name,
                                const CoreSizes& sizes, ParameterLayout& layout);
/// Throws InputError listing the valid kinds, or naming model.<..> for invalid sizes.
void check_core(const std::string& kind, const CoreSizes& sizes);
std::vector<std::string> core_kinds();

/// What a core remembers of earlier steps.
enum class Remembers { nothing, in_its_state, all_it_read };
Remembers core_remembers(const std::string& kind);
/// The kinds that carry all memory in their state, which a decoder can use.
std::vector<std::string> recurrent_core_kinds();

/// A core, named by model.core and decoder.core.
struct CoreKind {
  /// Makes a core whose parameters are `<name>.<..>`. `layout` outlives it.
  std::unique_ptr<Core> (*make)(const std::string& name, const CoreSizes& sizes,
                                ParameterLayout& layout);
  /// Throws InputError naming model.<..> for sizes that cannot be; null if all can.
  void (*check)(const CoreSizes& sizes) = nullptr;
  Remembers remembers = Remembers::in_its_state;
};

/// Adds a core of the program that calls it, before anything else is called. Throws as
/// NameTable::add does.
void register_core(const std::string& name, const CoreKind& kind);

// The cores. A new one is one file and one line in the table of core.cpp, plus a check of its sizes
// if some are invalid, and what it remembers if that is not all in its state.
void check_attention(const CoreSizes& sizes);
std::unique_ptr<Core> make_rnn(const std::string& name, const CoreSizes& sizes,
                               ParameterLayout& layout);
std::unique_ptr<Core> make_lstm(const std::string& name, const CoreSizes& sizes,
                                ParameterLayout& layout);
std::unique_ptr<Core> make_gru(const std::string& name, const CoreSizes& sizes,
                               ParameterLayout& layout);
std::unique_ptr<Core> make_attention(const std::string& name, const CoreSizes& sizes,
                                     ParameterLayout& layout);
std::unique_ptr<Core> make_feedforward(const std::string& name, const CoreSizes& sizes,
                                       ParameterLayout& layout);
/// h_t = g_t, without parameters: for models that see the whole canvas at once.
std::unique_ptr<Core> make_identity_core(int features);

/// Gradients of a weight [W_g; W_h] (F + H, N) that multiplied [g_t | h_{t-1}] at every step, and
/// of its bias, from dz (T B, N). h_0 = 0 does not contribute.
void input_weight_backward(Matrix dw, Matrix db, ConstMatrix dz, CoreMemory& memory);

/// z (B, N) = [g_{t+1} | h_t] w, skipping h_0 = 0.
void multiply_input(Matrix z, CoreMemory& memory, int t, ConstMatrix w);

}  // namespace saccade
