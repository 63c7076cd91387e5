#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// How the n keys of each of B episodes are ordered in the rows of one matrix.
enum class KeyOrder {
  by_episode,  // row b n + k: candidates of a grid
  by_step,     // row k B + b: states of a core
};

/// Returns the keys of episode b of B, as n rows.
template <class T>
MatrixView<T> keys_of_episode(MatrixView<T> keys, KeyOrder order, int episodes, int b) {
  SACCADE_CHECK(keys.rows % episodes == 0);
  const int n = keys.rows / episodes;
  if (order == KeyOrder::by_episode) return keys.row_range(b * n, n);
  return {keys.row(b), n, keys.cols, episodes * keys.stride};
}

/// Workspace of a score for B episodes with n keys each and T queries. Widths that the score does
/// not need are 0.
struct ScoreMemory {
  /// `width`: of the projected query. `inner`: of the projected keys.
  ScoreMemory(int steps, int episodes, int keys, int width, int inner, KeyOrder order);

  int steps, episodes, keys;
  KeyOrder order;
  Tensor<3> query;    // (T, B, width): projected query
  Tensor<3> dquery;   // (T, B, width)
  Tensor<3> dscores;  // (T, B, n)
  Tensor<2> key;      // (B n, inner), in key order: projected keys
  Tensor<2> dkey;     // (B n, inner), summed over the steps
  Tensor<2> tanh;     // (n, inner): one episode and step
  Tensor<2> dv;       // (1, inner), summed over episodes and steps
};

/// Scores s_t (B, Q) . h (B, n, K) -> (B, n) of queries and keys, the input of a softmax. Order of
/// calls for a set of keys and T queries: prepare; forward for steps 0, 1, ..; backward for steps T
/// - 1, T - 2, .. first; finish. Keys have the order that the memory was made for. A score without
/// a query (score_needs_query) neither reads the query nor writes dquery, and neither needs data.
/// Only make_memory allocates.
class Score {
 public:
  virtual ~Score() = default;

  virtual ScoreMemory make_memory(int steps, int episodes, int keys,
                                  KeyOrder order = KeyOrder::by_episode) const = 0;

  /// Computes what does not depend on the query, once per set of keys (B n, K).
  virtual void prepare(ScoreMemory& memory, ConstMatrix keys,
                       std::span<const float> parameters) const = 0;

  /// Writes the scores (B, n) of the queries (B, Q) of step t.
  virtual void forward(Matrix scores, ScoreMemory& memory, int t, ConstMatrix query,
                       ConstMatrix keys, std::span<const float> parameters) const = 0;

  /// Takes dscores (B, n) of step t and adds the queries' gradient to dquery (B, Q), which has no
  /// data if the query is detached. Step T - 1 begins a new backward pass.
  virtual void backward(Matrix dquery, ScoreMemory& memory, int t, ConstMatrix dscores,
                        ConstMatrix query, ConstMatrix keys,
                        std::span<const float> parameters) const = 0;

  /// After backward of steps first .. T - 1: overwrites the score's parameter gradients (with zeros
  /// if first = T) and adds the keys' gradient to dkeys (B n, K), which has no data if the keys are
  /// detached. queries (T B, Q): row t B + b.
  virtual void finish(std::span<float> gradient, Matrix dkeys, ScoreMemory& memory, int first,
                      ConstMatrix queries, ConstMatrix keys,
                      std::span<const float> parameters) const = 0;

  /// Multiply-adds of an episode of T queries against n keys, with nothing detached.
  virtual Work work(int steps, int keys) const = 0;
};

/// Widths of a query, Q, and of a key, K, and the inner width of scores that have one.
struct ScoreSizes {
  int query, key, hidden;
};

/// A score, named by the settings below.
struct ScoreKind {
  /// Makes a score whose parameters are `<name>.<..>`. `layout` outlives it.
  std::unique_ptr<Score> (*make)(const std::string& name, ScoreSizes sizes,
                                 ParameterLayout& layout);
  bool needs_query = true;
  bool needs_equal_widths = false;  // Q = K
  bool has_hidden = false;          // an inner width
};

/// Names of the settings that choose a score and its widths Q and K, for error messages.
struct ScoreSettings {
  std::string kind = "attention.glimpse.score";
  std::string query_size = "model.hidden_size";
  std::string key_size = "model.feature_size";
};

/// Throws InputError naming the settings for an unknown kind (listing the valid ones), and for
/// widths that must be equal but are not.
void check_score(const std::string& kind, int query_size, int key_size,
                 const ScoreSettings& settings = {});

/// `dot`: s'h; `scaled_dot`: s'h / sqrt(K) (Vaswani et al. 2017, section 3.2.1), both for Q = K;
/// `general`: s' W h (Luong et al. 2015, equation 8), parameter `<name>.weight` (Q, K); `additive`:
/// v' tanh(W_k h + W_q s + b) (Bahdanau et al. 2015, section A.1.2) of inner width `hidden`,
/// parameters `<name>.key.weight` (K, hidden), `<name>.query.weight` (Q, hidden), `<name>.bias` and
/// `<name>.v` (1, hidden); `location_free`: the same without a query, v' tanh(W_k h + b), for any
/// Q, including 0.
/// Throws InputError as check_score does. `layout` must outlive the score.
std::unique_ptr<Score> make_score(const std::string& kind, const std::string& name, int query_size,
                                  int key_size, int hidden, ParameterLayout& layout,
                                  const ScoreSettings& settings = {});
std::vector<std::string> score_kinds();
/// Whether the score depends on a query.
bool score_needs_query(const std::string& kind);
/// Whether queries and keys must have the same width.
bool score_needs_equal_widths(const std::string& kind);
/// Whether the score has an inner width.
bool score_has_hidden(const std::string& kind);
/// Adds a score of the program that calls it, before anything else is called. Throws as
/// NameTable::add does.
void register_score(const std::string& name, const ScoreKind& kind);

}  // namespace saccade
