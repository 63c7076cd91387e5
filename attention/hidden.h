#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attention/attend.h"
#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// What is read of the states h_1 .. h_T. Keys: attention.hidden.<..>
struct HiddenConfig {
  std::string kind = "last";                // a name of hidden_kinds()
  std::string query = "last";               // of attend: a name of hidden_queries()
  std::string output = "context_and_last";  // of attend: a name of hidden_outputs()
  AttendConfig attend = {};                 // of self: score_hidden only
  std::string mask = {};                    // T digits: 1 may be read, 0 not; empty: all may
  int hops = 4;                             // of self: r >= 1
  double penalty = 0.0;                     // of self: c >= 0
};

/// Throws InputError naming attention.hidden.<..> for what cannot be, whatever the steps.
void check(const HiddenConfig& config);

std::vector<std::string> hidden_kinds();
/// Whether what is read is as wide as a state, so that a decoder can read it for each symbol.
bool hidden_reads_a_state(const std::string& kind);
std::vector<std::string> hidden_queries();  // none, mean, last
std::vector<std::string> hidden_outputs();  // context_and_last, context

/// What a kind keeps beyond HiddenMemory.
struct HiddenExtension {
  virtual ~HiddenExtension() = default;
};

/// What is kept of reads of B episodes of T states.
struct HiddenMemory {
  HiddenMemory(int steps, int episodes, int hops);

  int steps, episodes;
  Tensor<3> weights;         // (T, B, r T): of the read after each step, hop by hop
  std::vector<int> lengths;  // (B)
  std::unique_ptr<HiddenExtension> extension;
};

/// What is read, after a step, of the states up to there. Values (T B, H) are h_1 .. h_T: row
/// t B + b, in rows that may lie further apart than H. A pass: prepare; forward of the steps it
/// wants, first .. T - 1 among them; backward of T - 1, T - 2, .. first; finish. Nothing allocates
/// but make_memory.
///
/// The read after step t = 0 .. T - 1 is of the first min(t + 1, length) states of an episode, less
/// those that the mask forbids. While nothing may be read, it is 0, and so are its weights.
class HiddenAttention {
 public:
  HiddenAttention(const HiddenConfig& config, int state_size, int steps);
  virtual ~HiddenAttention() = default;

  /// R
  virtual int output_size() const = 0;
  /// r: how many distributions over the states a read has.
  virtual int hops() const { return 1; }

  virtual HiddenMemory make_memory(int steps, int episodes) const = 0;

  /// Once all states are there. lengths (B), in 1 .. T: how many of them count.
  virtual void prepare(HiddenMemory& memory, ConstMatrix values, std::span<const int> lengths,
                       std::span<const float> parameters) const;

  /// Writes what is read after step t, (B, R).
  virtual void forward(Matrix output, HiddenMemory& memory, int t, ConstMatrix values,
                       std::span<const float> parameters) const = 0;

  /// Takes doutput (B, R) of the read after step t and adds to dvalues. With a `scale` above 0 it
  /// adds the gradient of the read's penalty times `scale` and returns that penalty, summed over
  /// the episodes; with 0 the penalty is left out.
  virtual double backward(Matrix dvalues, HiddenMemory& memory, int t, ConstMatrix doutput,
                          ConstMatrix values, float scale,
                          std::span<const float> parameters) const = 0;

  /// After backward of the reads from step `first` on: writes the parameter gradients (zeros where
  /// first = T) and adds the rest to dvalues.
  virtual void finish(std::span<float> gradient, Matrix dvalues, HiddenMemory& memory, int first,
                      ConstMatrix values, std::span<const float> parameters) const = 0;

  /// Multiply-adds of an episode of T steps that is read so often.
  virtual Work work(int steps, int reads) const = 0;

 protected:
  /// How many states count after step t.
  static int length(const HiddenMemory& memory, int t, int b) {
    return std::min(t + 1, memory.lengths[b]);
  }
  /// Those states, as rows.
  template <class T>
  static MatrixView<T> states(MatrixView<T> values, const HiddenMemory& memory, int t, int b) {
    return keys_of_episode(values, KeyOrder::by_step, memory.episodes, b)
        .row_range(0, length(memory, t, b));
  }
  /// How many of them may be read.
  int count(const HiddenMemory& memory, int t, int b) const {
    return allowed_before_[length(memory, t, b)];
  }
  /// Writes which (T) of them may be read: 1 or 0.
  void write_mask(float* mask, const HiddenMemory& memory, int t, int b) const;
  /// Writes their mean (H), 0 while nothing may be read.
  void mean_forward(float* mean, const HiddenMemory& memory, int t, int b,
                    ConstMatrix values) const;
  void mean_backward(Matrix dvalues, const HiddenMemory& memory, int t, int b,
                     const float* dmean) const;

  int state_size_;

 private:
  std::vector<float> allowed_;       // (T): 1 or 0
  std::vector<int> allowed_before_;  // (T + 1)
};

/// `last`: the last state that counts, whatever the mask; R = H.
/// `mean`: the mean of the states; R = H.
/// `attend`: a context (attention/attend.h) with the `query` none (then the score is
/// location_free), their mean, or the last state that counts; the output is [context | last state],
/// R = 2 H, or the context alone. Parameters `<name>.<..>` as of Attend.
/// `self`: M = A H of r hops (Lin et al. 2017, equations 5 to 8), hop by hop, R = r H, with A =
/// softmax over the states of W_2' tanh(W_1' h), parameters `<name>.hidden.weight` (H,
/// score_hidden) and `<name>.hops.weight` (score_hidden, r). Its penalty is c |A A' - I|_F^2 of a
/// read.
///
/// Throws InputError as check() does, and for a mask that is not one of so many steps. `layout`
/// must outlive it.
std::unique_ptr<HiddenAttention> make_hidden_attention(const HiddenConfig& config,
                                                       const std::string& name, int state_size,
                                                       int steps, ParameterLayout& layout);

// The kinds. A new one is one file and one line in the table of hidden.cpp, with a check of the
// settings that it alone has, where it has any, and whether it is as wide as a state.
void check_hidden_attend(const HiddenConfig& config);
void check_hidden_self(const HiddenConfig& config);
std::unique_ptr<HiddenAttention> make_hidden_attend(const HiddenConfig& config,
                                                    const std::string& name, int state_size,
                                                    int steps, ParameterLayout& layout);
std::unique_ptr<HiddenAttention> make_hidden_self(const HiddenConfig& config,
                                                  const std::string& name, int state_size,
                                                  int steps, ParameterLayout& layout);

}  // namespace saccade
