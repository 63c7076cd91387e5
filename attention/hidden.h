#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attention/attend.h"
#include "base/setting.h"
#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// Allowed numbers of rows of the matrix A of self.
inline constexpr Interval kHops = closed(1, 64);

/// How the states h_1 .. h_T are read. Keys: attention.hidden.<..>
struct HiddenConfig {
  std::string kind = "last";                // one of hidden_kinds()
  std::string query = "last";               // attend: one of hidden_queries()
  std::string output = "context_and_last";  // attend: one of hidden_outputs()
  AttendConfig attend = {};                 // self uses score_hidden only
  std::string mask = {};                    // T digits: 1 may be read, 0 not; empty: all may
  int hops = 4;                             // self: r, in kHops
  double penalty = 0.0;                     // self: c, in kLossWeight
};

/// `read_once`: that the states are read once, not for each symbol of a sequence.
Settings describe(HiddenConfig& config, const Needs& read_once);

/// Throws SettingError for settings that are invalid for any number of steps.
void check(const HiddenConfig& config);

/// 1 for each of `steps` states that attention.hidden.mask allows to be read, and 0 for each other.
/// Throws SettingError for a mask of other characters or another length, and for one of zeros.
std::vector<float> parse_mask(const std::string& mask, int steps);

std::vector<std::string> hidden_kinds();
/// Whether the output is as wide as a state, so that a decoder can read it for each symbol.
bool hidden_reads_a_state(const std::string& kind);
/// Whether a query scores the states (AttendConfig).
bool hidden_attends(const std::string& kind);
/// Whether it weighs several states, of which attention.hidden.mask may exclude some.
bool hidden_weighs(const std::string& kind);
std::vector<std::string> hidden_queries();  // none, mean, last
std::vector<std::string> hidden_outputs();  // context_and_last, context
/// Whether the output contains the last state besides the context.
bool output_has_last(const std::string& output);

/// Workspace of a kind beyond HiddenMemory.
struct HiddenExtension {
  virtual ~HiddenExtension() = default;
};

/// Workspace of reads in B episodes of T states.
struct HiddenMemory {
  HiddenMemory(int steps, int episodes, int hops);

  int steps, episodes;
  Tensor<3> weights;         // (T, B, r T): of the read after each step, hop by hop
  std::vector<int> lengths;  // (B)
  std::unique_ptr<HiddenExtension> extension;
};

/// Reads, after a step, the states up to that step. Values (T B, H) are h_1 .. h_T: row t B + b;
/// the row stride may exceed H. Order of calls: prepare; forward for any set of steps that includes
/// first .. T - 1; backward for T - 1, T - 2, .. first; finish. Only make_memory allocates.
///
/// The read after step t = 0 .. T - 1 covers the first min(t + 1, length) states of an episode,
/// except those that the mask excludes. If no state may be read, the output and its weights are 0.
class HiddenAttention {
 public:
  HiddenAttention(const HiddenConfig& config, int state_size, int steps);
  virtual ~HiddenAttention() = default;

  /// R: width of the output.
  virtual int output_size() const = 0;
  /// r: number of distributions over the states in a read.
  virtual int hops() const { return 1; }

  virtual HiddenMemory make_memory(int steps, int episodes) const = 0;

  /// Call once all states are known. lengths (B), in 1 .. T: the number of states that count.
  virtual void prepare(HiddenMemory& memory, ConstMatrix values, std::span<const int> lengths,
                       std::span<const float> parameters) const;

  /// Writes the output of the read after step t, (B, R).
  virtual void forward(Matrix output, HiddenMemory& memory, int t, ConstMatrix values,
                       std::span<const float> parameters) const = 0;

  /// Takes doutput (B, R) of the read after step t and adds to dvalues. If `scale` > 0, also adds
  /// `scale` times the gradient of the read's penalty and returns that penalty, summed over the
  /// episodes; if 0, ignores the penalty.
  virtual double backward(Matrix dvalues, HiddenMemory& memory, int t, ConstMatrix doutput,
                          ConstMatrix values, float scale,
                          std::span<const float> parameters) const = 0;

  /// After backward of the reads from step `first` on: overwrites the parameter gradients (with
  /// zeros if first = T) and adds the remaining gradients to dvalues.
  virtual void finish(std::span<float> gradient, Matrix dvalues, HiddenMemory& memory, int first,
                      ConstMatrix values, std::span<const float> parameters) const = 0;

  /// Multiply-adds of an episode of T steps with that many reads.
  virtual Work work(int steps, int reads) const = 0;

 protected:
  /// Returns how many states count after step t.
  static int length(const HiddenMemory& memory, int t, int b) {
    return std::min(t + 1, memory.lengths[b]);
  }
  /// Returns those states, as rows.
  template <class T>
  static MatrixView<T> states(MatrixView<T> values, const HiddenMemory& memory, int t, int b) {
    return keys_of_episode(values, KeyOrder::by_step, memory.episodes, b)
        .row_range(0, length(memory, t, b));
  }
  /// Returns how many of them may be read.
  int count(const HiddenMemory& memory, int t, int b) const {
    return allowed_before_[length(memory, t, b)];
  }
  /// Writes which of them may be read (T): 1 or 0.
  void write_mask(float* mask, const HiddenMemory& memory, int t, int b) const;
  /// Writes their mean (H); 0 if none may be read.
  void mean_forward(float* mean, const HiddenMemory& memory, int t, int b,
                    ConstMatrix values) const;
  void mean_backward(Matrix dvalues, const HiddenMemory& memory, int t, int b,
                     const float* dmean) const;

  int state_size_;

 private:
  std::vector<float> allowed_;       // (T): 1 or 0
  std::vector<int> allowed_before_;  // (T + 1)
};

/// `last`: the last state that counts, ignoring the mask; R = H.
/// `mean`: the mean of the states; R = H.
/// `attend`: a context (attention/attend.h) whose `query` is none (then the score must be
/// location_free), the mean of the states, or the last state that counts; the output is [context |
/// last state], R = 2 H, or the context alone. Parameters `<name>.<..>` as in Attend.
/// `self`: M = A H with r hops (Lin et al. 2017, equations 5 to 8), hop by hop, R = r H, where A =
/// softmax over the states of W_2' tanh(W_1' h), parameters `<name>.hidden.weight` (H,
/// score_hidden) and `<name>.hops.weight` (score_hidden, r). The penalty of a read is c |A A' -
/// I|_F^2.
///
/// Throws InputError as check() does, and for a mask whose length is not the number of steps.
/// `layout` must outlive it.
std::unique_ptr<HiddenAttention> make_hidden_attention(const HiddenConfig& config,
                                                       const std::string& name, int state_size,
                                                       int steps, ParameterLayout& layout);

// The kinds. A new one is one file and one line in the table of hidden.cpp, which also gives a
// check of the kind's own settings, if any, whether the output is as wide as a state, and which
// settings have an effect.
void check_hidden_attend(const HiddenConfig& config);
void check_hidden_self(const HiddenConfig& config);
std::unique_ptr<HiddenAttention> make_hidden_attend(const HiddenConfig& config,
                                                    const std::string& name, int state_size,
                                                    int steps, ParameterLayout& layout);
std::unique_ptr<HiddenAttention> make_hidden_self(const HiddenConfig& config,
                                                  const std::string& name, int state_size,
                                                  int steps, ParameterLayout& layout);

}  // namespace saccade
