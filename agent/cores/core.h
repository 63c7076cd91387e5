#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// Of what size a core is.
struct CoreSizes {
  int features = 0;  // F: width of what it reads at a step
  int hidden = 0;    // H: width of its state
  int heads = 4;     // attention: its heads, a divisor of H
  int depth = 1;     // attention: its layers
};

/// What a kind of core keeps for itself: gates, cells, weights.
struct CoreExtension {
  virtual ~CoreExtension() = default;
};

/// What every core keeps of B episodes over T steps, and what its kind keeps besides.
/// [g_t | h_{t-1}] lie side by side, so that one product multiplies both; h_t is written straight
/// into the input of the next step.
struct CoreMemory {
  CoreMemory(int steps, int episodes, const CoreSizes& sizes,
             std::unique_ptr<CoreExtension> extension = nullptr);

  int steps, features, hidden;
  Tensor<3> input;    // (T + 1, B, F + H): [g_{t+1} | h_t]; h_0 = 0, and the last has no g
  Tensor<3> ungated;  // (T, B, F): g_1 .. g_T where a gate changes them, else none
  Tensor<3> dstate;   // (T, B, H): in backward, gradients of h_1 .. h_T
  std::unique_ptr<CoreExtension> extension;

  /// What the core reads at step t (B, F): written before it.
  Matrix feature(int t) { return step(input, t).columns(0, features); }
  /// g_{t+1} (B, F): the same, but where there is a gate.
  Matrix glimpse_feature(int t) { return ungated.size() > 0 ? step(ungated, t) : feature(t); }
  /// h_t (B, H), t in 0 .. T.
  Matrix state(int t) { return step(input, t).columns(features, hidden); }
  /// Rows of `count` steps of a (T, B, width) tensor, as (count B, width).
  Matrix steps_of(Tensor<3>& tensor, int first, int count) const {
    return matrix(tensor).row_range(first * episodes(), count * episodes());
  }
  /// What the core reads, g_1 .. g_T, and h_0 .. h_{T-1}: (T B, F), (T B, F), (T B, H).
  Matrix all_features() { return matrix(input).columns(0, features).row_range(0, rows()); }
  Matrix all_glimpse_features() { return ungated.size() > 0 ? matrix(ungated) : all_features(); }
  Matrix all_states() { return matrix(input).columns(features, hidden).row_range(0, rows()); }
  /// h_1 .. h_T (T B, H)
  Matrix states() { return matrix(input).columns(features, hidden).row_range(episodes(), rows()); }

  int episodes() const { return static_cast<int>(input.shape()[1]); }
  int rows() const { return steps * episodes(); }
};

/// Row r becomes what row parents[r] was.
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

  /// The way back, from t = T - 1 to 0. Before the first, memory.dstate holds the gradients that
  /// reach h_1 .. h_T from elsewhere. Step t reads and overwrites that of h_{t+1} and adds to that
  /// of h_t, to which others may still add before step t - 1.
  virtual void step_backward(CoreMemory& memory, int t,
                             std::span<const float> parameters) const = 0;
  /// After their step_backward: the gradients of g_{first+1} .. as dfeatures (count B, F).
  virtual void feature_backward(Matrix dfeatures, CoreMemory& memory, int first, int count,
                                std::span<const float> parameters) const = 0;
  /// After all steps: writes the core's parameter gradients.
  virtual void weight_backward(std::span<float> gradient, CoreMemory& memory) const = 0;

  /// All of it, where nothing else is added on the way: dfeatures (T B, F).
  void backward(std::span<float> gradient, Matrix dfeatures, CoreMemory& memory,
                std::span<const float> parameters) const;

  /// Gives every episode the past of another after step t: b that of parents[b] (B). For beams, of
  /// cores that carry all they know in their state. Allocates.
  virtual void reorder(CoreMemory& memory, int t, std::span<const int> parents) const {
    reorder_rows(memory.state(t + 1), parents);
  }

  /// How much step t of episode b attended to each of the steps 0 .. t, after forward(t): rows that
  /// sum to 1, (depth * heads, t + 1), layer by layer from the first. A view of the memory. Without
  /// data for a core that does not attend.
  virtual ConstMatrix attention(const CoreMemory&, int /*t*/, int /*b*/) const { return {}; }
  /// How many rows that has: 0 for a core that does not attend.
  virtual int attention_rows() const { return 0; }

  /// Multiply-adds of an episode of T steps. The first step has no state to multiply.
  virtual Work work(int steps) const = 0;

 protected:
  CoreSizes sizes_;
  int features_, hidden_;
};

/// `rnn`: h = relu(W_g g + W_h h + b), W_h begins as the identity (Le et al. 2015);
/// `lstm` (Hochreiter and Schmidhuber 1997, forget bias begins at 1); `gru` (Cho et al. 2014, with
/// the reset gate after the product); `feedforward`: h_t = relu(W g_t + b), which remembers
/// nothing; `attention`: causal multi-head self-attention over g_1 .. g_t (Vaswani et al. 2017;
/// layers of attention/transformer.h). Its parameters are called `<name>.<..>`. Throws InputError
/// as check_core does. `layout` must outlive it.
std::unique_ptr<Core> make_core(const std::string& kind, const std::string& name,
                                const CoreSizes& sizes, ParameterLayout& layout);
/// Throws InputError listing the kinds, or naming model.<..> for sizes that a core cannot have.
void check_core(const std::string& kind, const CoreSizes& sizes);
std::vector<std::string> core_kinds();

/// What a core knows of the steps before.
enum class Remembers { nothing, in_its_state, all_it_read };
Remembers core_remembers(const std::string& kind);
/// Those that carry all they know in their state: a decoder can have them.
std::vector<std::string> recurrent_core_kinds();

// The cores. A new one is one file and one line in the table of core.cpp, with a check of its sizes
// where not all of them can be, and what it remembers unless that is all in its state.
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
/// h_t = g_t, without parameters: for a model that sees the whole canvas at once.
std::unique_ptr<Core> make_identity_core(int features);

/// Gradients of a weight [W_g; W_h] (F + H, N) that multiplied [g_t | h_{t-1}] at every step, from
/// dz (T B, N): its weight and bias. h_0 = 0 takes no part.
void input_weight_backward(Matrix dw, Matrix db, ConstMatrix dz, CoreMemory& memory);

/// z (B, N) = [g_{t+1} | h_t] w, without the part of h_0 = 0.
void multiply_input(Matrix z, CoreMemory& memory, int t, ConstMatrix w);

}  // namespace saccade
