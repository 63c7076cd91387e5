#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attention/score.h"
#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// How values are weighed. Keys: score, score_hidden, area, position and window of a section.
struct AttendConfig {
  std::string score = "general";     // a name of score_kinds()
  int score_hidden = 128;            // inside additive, location_free and the predicted position
  std::string area = "global";       // a name of attention_areas()
  std::string position = "current";  // of area local: a name of attention_positions()
  int window = 2;                    // of area local: D >= 1, steps to either side
};

/// Throws InputError naming `<section>.<key>` for unknown names, numbers out of range, sizes of
/// queries Q and values K that do not go with the score (check_score), and a predicted position
/// without a query.
void check(const AttendConfig& config, int query_size, int value_size,
           const std::string& section = "attention.hidden");

std::vector<std::string> attention_areas();      // global, local
std::vector<std::string> attention_positions();  // current, predicted

/// What J queries keep of n values of each of B episodes. Which of it is empty depends on the
/// configuration.
struct AttendMemory {
  Tensor<3> weights;  // (J, B, n): what each query gave to each value
  ScoreMemory score;
  Tensor<2> dscores;  // (B, n)
  // Of area local:
  Tensor<3> softmax;  // (J, B, n): the weights before the Gaussian
  Tensor<2> centre;   // (J, B): p
  Tensor<1> window;   // (n): the mask within the window, of one episode
  // Of a predicted centre:
  Tensor<3> activation = {};   // (J, B, hidden): tanh(W_p' s)
  Tensor<3> dactivation = {};  // (J, B, hidden): before the tanh
  Tensor<3> share = {};        // (J, B, 1): sigmoid(v_p' tanh(W_p' s))
  Tensor<3> dshare = {};       // (J, B, 1): before the sigmoid
};

/// The context c_j = sum_k a_jk v_k of J queries in order, against the same n values of each of B
/// episodes, which are the keys as well. A set of values is read so: prepare; forward of the
/// queries 0, 1, ..; backward of J - 1, J - 2, .. first; finish. Nothing allocates but make_memory.
///
/// The mask (B, n) says which values may be read (1) and which not (0): those get the weight 0 and
/// no gradient.
/// Area `global`: a = softmax of the scores.
/// Area `local` (Luong et al. 2015, section 3.2): around a centre p, counted in values from 0,
///   a_k = softmax over the allowed |k - p| <= D of the scores, times exp(-(k - p)^2 / (2
///   (D/2)^2)),
/// which is not normalised again; where no value of the window is allowed, over the one allowed
/// nearest to p (the first of equals). With m values up to the last that is allowed,
/// `current`: p = min(j, m - 1) for query j (local-m); `predicted`: p = (m - 1) sigmoid(v_p'
/// tanh(W_p' s)) of the query s (local-p), learned through the Gaussian, not through the window's
/// edges.
class Attend {
 public:
  /// Parameters: `<name>.score.<..>` as of make_score; of a predicted centre
  /// `<name>.position.weight` (Q, score_hidden) and `<name>.position.v` (1, score_hidden). The
  /// query size Q may be 0 for location_free. Throws InputError as check() does. `layout` must
  /// outlive it.
  Attend(const std::string& name, const AttendConfig& config, int query_size, int value_size,
         ParameterLayout& layout, const std::string& section = "attention.hidden");

  AttendMemory make_memory(int queries, int episodes, int values, KeyOrder order) const;

  /// What needs no query, once for a set of values (B n, K), which lie in the memory's order.
  void prepare(AttendMemory& memory, ConstMatrix values, std::span<const float> parameters) const;

  /// Writes the contexts (B, K) and memory.weights of query j of each episode, (B, Q); without data
  /// where the score needs none. Throws InputError where the mask allows an episode nothing.
  void forward(Matrix context, AttendMemory& memory, int j, ConstMatrix query, ConstMatrix values,
               ConstMatrix mask, std::span<const float> parameters) const;
  /// Takes dcontext (B, K) and adds to dquery (B, Q), without data for one that is detached, and to
  /// dvalues (B n, K) what does not pass the scores. Query J - 1 begins a new backward pass.
  void backward(Matrix dquery, Matrix dvalues, AttendMemory& memory, int j, ConstMatrix dcontext,
                ConstMatrix query, ConstMatrix values, ConstMatrix mask,
                std::span<const float> parameters) const;
  /// After backward of the queries first .. J - 1: writes the parameter gradients (zeros where
  /// first = J) and adds the scores' part to dvalues. queries (J B, Q): row j B + b.
  void finish(std::span<float> gradient, Matrix dvalues, AttendMemory& memory, int first,
              ConstMatrix queries, ConstMatrix values, std::span<const float> parameters) const;

  /// Multiply-adds of an episode of J queries against n values.
  Work work(int queries, int values) const;

 private:
  void predict_forward(AttendMemory& memory, int j, ConstMatrix query,
                       std::span<const float> parameters) const;
  void predict_backward(Matrix dquery, AttendMemory& memory, int j,
                        std::span<const float> parameters) const;
  void local_forward(AttendMemory& memory, int j, int b, const float* mask) const;
  void local_backward(float* dweights, AttendMemory& memory, int j, int b, const float* mask) const;
  float gaussian(float distance) const;

  bool local_, predicted_;
  int query_size_, value_size_, hidden_, window_;
  const ParameterLayout& layout_;
  std::unique_ptr<const Score> score_;
  int position_weight_ = -1, position_v_ = -1;
};

}  // namespace saccade
