#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attention/score.h"
#include "base/setting.h"
#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// Allowed steps to either side of the centre of a local area.
inline constexpr Interval kAttendWindow = closed(1, 256);

/// How values are weighted. Keys: score, score_hidden, area, position and window of a section.
struct AttendConfig {
  std::string score = "general";     // one of score_kinds()
  int score_hidden = 128;            // inner width of additive, location_free, predicted position
  std::string area = "global";       // one of attention_areas()
  std::string position = "current";  // area local: one of attention_positions()
  int window = 2;                    // area local: D, steps to either side
};

/// Throws InputError naming `<section>.<key>` for unknown names, numbers out of range, query and
/// value sizes Q and K that the score does not support (check_score), and a predicted position
/// without a query.
void check(const AttendConfig& config, int query_size, int value_size,
           const std::string& section = "attention.hidden");

std::vector<std::string> attention_areas();      // global, local
std::vector<std::string> attention_positions();  // current, predicted
/// Whether an area lies around a centre, and whether a position of the centre is predicted.
bool area_is_local(const std::string& area);
bool position_is_predicted(const std::string& position);

/// Workspace of J queries against n values in each of B episodes. Tensors that the configuration
/// does not need are empty.
struct AttendMemory {
  Tensor<3> weights;  // (J, B, n): attention weights
  ScoreMemory score;
  Tensor<2> dscores;  // (B, n)
  // For area local:
  Tensor<3> softmax;  // (J, B, n): the weights before the Gaussian
  Tensor<2> centre;   // (J, B): p
  Tensor<1> window;   // (n): the mask within the window, of one episode
  // For a predicted centre:
  Tensor<3> activation = {};   // (J, B, hidden): tanh(W_p' s)
  Tensor<3> dactivation = {};  // (J, B, hidden): before the tanh
  Tensor<3> share = {};        // (J, B, 1): sigmoid(v_p' tanh(W_p' s))
  Tensor<3> dshare = {};       // (J, B, 1): before the sigmoid
};

/// The contexts c_j = sum_k a_jk v_k of J queries in order, against the same n values (which are
/// also the keys) in each of B episodes. Order of calls for a set of values: prepare; forward for
/// queries 0, 1, ..; backward for J - 1, J - 2, .. first; finish. Only make_memory allocates.
///
/// The mask (B, n) says which values may be read (1) and which not (0): those get weight 0 and no
/// gradient.
/// Area `global`: a = softmax of the scores.
/// Area `local` (Luong et al. 2015, section 3.2): around a centre p, counted in values from 0,
///   a_k = softmax of the scores over the allowed |k - p| <= D,
///         times exp(-(k - p)^2 / (2 (D/2)^2)),
/// without renormalisation. If no value of the window is allowed, the softmax covers only the
/// allowed value nearest to p (the first of equals). Let m be the number of values up to the last
/// allowed one. Position `current` (local-m): p = min(j, m - 1) for query j. Position `predicted`
/// (local-p): p = (m - 1) sigmoid(v_p' tanh(W_p' s)) of the query s, learned through the Gaussian
/// but not through the window's edges.
class Attend {
 public:
  /// Parameters: `<name>.score.<..>` as in make_score; for a predicted centre also
  /// `<name>.position.weight` (Q, score_hidden) and `<name>.position.v` (1, score_hidden). The
  /// query size Q may be 0 for location_free. Throws InputError as check() does. `layout` must
  /// outlive it.
  Attend(const std::string& name, const AttendConfig& config, int query_size, int value_size,
         ParameterLayout& layout, const std::string& section = "attention.hidden");

  AttendMemory make_memory(int queries, int episodes, int values, KeyOrder order) const;

  /// Computes what does not depend on the query, once per set of values (B n, K), in the memory's
  /// key order.
  void prepare(AttendMemory& memory, ConstMatrix values, std::span<const float> parameters) const;

  /// Writes the contexts (B, K) and memory.weights of query j of each episode, (B, Q); `query` has
  /// no data if the score needs none. Throws InputError if the mask allows no value of an episode.
  void forward(Matrix context, AttendMemory& memory, int j, ConstMatrix query, ConstMatrix values,
               ConstMatrix mask, std::span<const float> parameters) const;
  /// Takes dcontext (B, K). Adds to dquery (B, Q), which has no data if the query is detached, and
  /// to dvalues (B n, K) the part that does not pass through the scores. Query J - 1 begins a new
  /// backward pass.
  void backward(Matrix dquery, Matrix dvalues, AttendMemory& memory, int j, ConstMatrix dcontext,
                ConstMatrix query, ConstMatrix values, ConstMatrix mask,
                std::span<const float> parameters) const;
  /// After backward of queries first .. J - 1: overwrites the parameter gradients (with zeros if
  /// first = J) and adds the scores' part to dvalues. queries (J B, Q): row j B + b.
  void finish(std::span<float> gradient, Matrix dvalues, AttendMemory& memory, int first,
              ConstMatrix queries, ConstMatrix values, std::span<const float> parameters) const;

  /// Multiply-adds of J queries against n values, per episode.
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
