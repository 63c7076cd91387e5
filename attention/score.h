#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// What a score keeps of B episodes with n keys each over T queries. Which widths are 0 depends on
/// the score.
struct ScoreMemory {
  /// `width`: of the projected query. `inner`: of the projected keys.
  ScoreMemory(int steps, int episodes, int keys, int width, int inner);

  int steps, episodes, keys;
  Tensor<3> query;    // (T, B, width): the query as it meets the keys
  Tensor<3> dquery;   // (T, B, width)
  Tensor<3> dscores;  // (T, B, n)
  Tensor<2> key;      // (B n, inner): the keys as they meet the query
  Tensor<2> dkey;     // (B n, inner), summed over the steps
  Tensor<2> tanh;     // (n, inner): of one episode and step
  Tensor<2> dv;       // (1, inner), summed over episodes and steps
};

/// Scores s_t (B, Q) . h (B, n, K) -> (B, n) of queries and keys, the input of a softmax. A set of
/// keys is scored by T queries in order: prepare; forward of the steps 0, 1, ..; backward of the
/// steps T - 1, T - 2, .. first; finish. Rows of keys lie episode by episode: row b n + k.
/// Nothing allocates but make_memory.
class Score {
 public:
  virtual ~Score() = default;

  virtual ScoreMemory make_memory(int steps, int episodes, int keys) const = 0;

  /// What needs no query, once for a set of keys (B n, K).
  virtual void prepare(ScoreMemory& memory, ConstMatrix keys,
                       std::span<const float> parameters) const = 0;

  /// Writes the scores (B, n) of the queries (B, Q) of step t.
  virtual void forward(Matrix scores, ScoreMemory& memory, int t, ConstMatrix query,
                       ConstMatrix keys, std::span<const float> parameters) const = 0;

  /// Takes dscores (B, n) of step t and adds the queries' gradient to dquery (B, Q). A dquery
  /// without data is that of a detached query. Step T - 1 begins a new backward pass.
  virtual void backward(Matrix dquery, ScoreMemory& memory, int t, ConstMatrix dscores,
                        ConstMatrix query, ConstMatrix keys,
                        std::span<const float> parameters) const = 0;

  /// After backward of the steps first .. T - 1: writes the score's parameter gradients (zeros
  /// where first = T) and adds the keys' gradient to dkeys (B n, K). A dkeys without data is that
  /// of detached keys. queries (T B, Q): row t B + b.
  virtual void finish(std::span<float> gradient, Matrix dkeys, ScoreMemory& memory, int first,
                      ConstMatrix queries, ConstMatrix keys,
                      std::span<const float> parameters) const = 0;

  /// Multiply-adds of an episode of T queries against n keys, none of them detached.
  virtual Work work(int steps, int keys) const = 0;
};

/// `dot`: s'h; `scaled_dot`: s'h / sqrt(K) (Vaswani et al. 2017, section 3.2.1), both for Q = K;
/// `general`: s' W h (Luong et al. 2015, equation 8), parameter `<name>.weight` (Q, K);
/// `additive`: v' tanh(W_k h + W_q s + b) (Bahdanau et al. 2015, section A.1.2) of the inner width
/// `hidden`, parameters `<name>.key.weight` (K, hidden), `<name>.query.weight` (Q, hidden),
/// `<name>.bias` and `<name>.v` (1, hidden).
/// Throws InputError for an unknown kind, listing the names, and for widths that differ where they
/// must not. `layout` must outlive it.
std::unique_ptr<Score> make_score(const std::string& kind, const std::string& name, int query_size,
                                  int key_size, int hidden, ParameterLayout& layout);
std::vector<std::string> score_kinds();
/// Whether queries and keys must be of the same width.
bool score_needs_equal_widths(const std::string& kind);

}  // namespace saccade
