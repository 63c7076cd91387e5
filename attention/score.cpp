#include "attention/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/name_table.h"
#include "nn/gemm.h"
#include "nn/layers.h"
#include "nn/rows.h"

namespace saccade {
namespace {

using Sizes = ScoreSizes;

// Returns the keys of episode b.
template <class T>
MatrixView<T> episode(MatrixView<T> keys, const ScoreMemory& memory, int b) {
  SACCADE_CHECK(keys.rows == memory.episodes * memory.keys);
  return keys_of_episode(keys, memory.order, memory.episodes, b);
}

// Returns row b of every step from `first` on.
ConstMatrix steps_of(ConstMatrix rows, const ScoreMemory& memory, int first, int b) {
  return {rows.row(first * memory.episodes + b), memory.steps - first, rows.cols,
          memory.episodes * rows.stride};
}

// Returns all rows of the steps from `first` on.
ConstMatrix rows_from(ConstMatrix rows, const ScoreMemory& memory, int first) {
  SACCADE_CHECK(rows.rows == memory.steps * memory.episodes);
  const int skipped = first * memory.episodes;
  return rows.row_range(skipped, rows.rows - skipped);
}

// Adds the gradient of the scores query . key of all steps to dkeys.
void add_key_gradient(Matrix dkeys, const ScoreMemory& memory, int first, ConstMatrix queries) {
  if (dkeys.data == nullptr || first == memory.steps) return;
  const ConstMatrix dscores = matrix(memory.dscores);
  for (int b = 0; b < memory.episodes; ++b)
    multiply_transposed_a(episode(dkeys, memory, b), steps_of(dscores, memory, first, b),
                          steps_of(queries, memory, first, b), 1.0F);
}

void fill(Matrix m, float value) {
  for (int r = 0; r < m.rows; ++r) std::fill_n(m.row(r), m.cols, value);
}

class Dot final : public Score {
 public:
  Dot(Sizes sizes, float scale) : key_size_(sizes.key), scale_(scale) {}

  ScoreMemory make_memory(int steps, int episodes, int keys, KeyOrder order) const override {
    return {steps, episodes, keys, 0, 0, order};
  }

  void prepare(ScoreMemory&, ConstMatrix, std::span<const float>) const override {}

  void forward(Matrix scores, ScoreMemory& memory, int, ConstMatrix query, ConstMatrix keys,
               std::span<const float>) const override {
    for (int b = 0; b < memory.episodes; ++b) {
      row_products(one_row(scores, b), episode(keys, memory, b), one_row(query, b));
      for (int k = 0; k < memory.keys; ++k) scores(b, k) *= scale_;
    }
  }

  void backward(Matrix dquery, ScoreMemory& memory, int t, ConstMatrix dscores, ConstMatrix,
                ConstMatrix keys, std::span<const float>) const override {
    const Matrix scaled = step(memory.dscores, t);
    for (int b = 0; b < memory.episodes; ++b) {
      for (int k = 0; k < memory.keys; ++k) scaled(b, k) = scale_ * dscores(b, k);
      if (dquery.data != nullptr)
        add_weighted_rows(one_row(dquery, b), one_row(scaled, b), episode(keys, memory, b));
    }
  }

  void finish(std::span<float>, Matrix dkeys, ScoreMemory& memory, int first, ConstMatrix queries,
              ConstMatrix, std::span<const float>) const override {
    add_key_gradient(dkeys, memory, first, queries);
  }

  Work work(int steps, int keys) const override { return linear_work(key_size_, keys) * steps; }

 private:
  int key_size_;
  float scale_;
};

// Projects the query, q = s W, rather than the keys, of which there are more.
class General final : public Score {
 public:
  General(const std::string& name, Sizes sizes, ParameterLayout& layout)
      : sizes_(sizes), layout_(layout) {
    // The score sums Q K products of numbers of order 1.
    weight_ = layout.add(name + ".weight", sizes.query, sizes.key,
                         uniform_fan_in(sizes.query * sizes.key));
  }

  ScoreMemory make_memory(int steps, int episodes, int keys, KeyOrder order) const override {
    return {steps, episodes, keys, sizes_.key, 0, order};
  }

  void prepare(ScoreMemory&, ConstMatrix, std::span<const float>) const override {}

  void forward(Matrix scores, ScoreMemory& memory, int t, ConstMatrix query, ConstMatrix keys,
               std::span<const float> parameters) const override {
    const Matrix q = step(memory.query, t);
    multiply(q, query, layout_.view(parameters, weight_));
    for (int b = 0; b < memory.episodes; ++b)
      row_products(one_row(scores, b), episode(keys, memory, b), one_row(q, b));
  }

  void backward(Matrix dquery, ScoreMemory& memory, int t, ConstMatrix dscores, ConstMatrix,
                ConstMatrix keys, std::span<const float> parameters) const override {
    const Matrix dq = step(memory.dquery, t);
    for (int b = 0; b < memory.episodes; ++b) {
      std::copy_n(dscores.row(b), memory.keys, step(memory.dscores, t).row(b));
      weighted_rows(one_row(dq, b), one_row(dscores, b), episode(keys, memory, b));
    }
    if (dquery.data != nullptr)
      multiply_transposed_b(dquery, dq, layout_.view(parameters, weight_), 1.0F);
  }

  void finish(std::span<float> gradient, Matrix dkeys, ScoreMemory& memory, int first,
              ConstMatrix queries, ConstMatrix, std::span<const float>) const override {
    const Matrix dw = layout_.view(gradient, weight_);
    if (first == memory.steps) return fill(dw, 0.0F);
    multiply_transposed_a(dw, rows_from(queries, memory, first),
                          rows_from(matrix(memory.dquery), memory, first));
    add_key_gradient(dkeys, memory, first, matrix(memory.query));
  }

  Work work(int steps, int keys) const override {
    return (linear_work(sizes_.query, sizes_.key) + linear_work(sizes_.key, keys)) * steps;
  }

 private:
  Sizes sizes_;
  const ParameterLayout& layout_;
  int weight_;
};

// With p = W_k h + b and q = W_q s: score = v' tanh(p + q), where q = 0 without a query. Backward
// recomputes the tanh, because the tanh of all steps would not fit in the cache.
class Additive final : public Score {
 public:
  Additive(const std::string& name, Sizes sizes, bool has_query, ParameterLayout& layout)
      : sizes_(sizes), has_query_(has_query), layout_(layout) {
    const int hidden = sizes.hidden;
    key_weight_ = layout.add(name + ".key.weight", sizes.key, hidden, uniform_fan_in(sizes.key));
    if (has_query)
      query_weight_ =
          layout.add(name + ".query.weight", sizes.query, hidden, uniform_fan_in(sizes.query));
    bias_ = layout.add(name + ".bias", 1, hidden, constant(0));
    v_ = layout.add(name + ".v", 1, hidden, uniform_fan_in(hidden));
  }

  ScoreMemory make_memory(int steps, int episodes, int keys, KeyOrder order) const override {
    return {steps, episodes, keys, sizes_.hidden, sizes_.hidden, order};
  }

  void prepare(ScoreMemory& memory, ConstMatrix keys,
               std::span<const float> parameters) const override {
    linear_forward(matrix(memory.key), keys, layout_.view(parameters, key_weight_),
                   layout_.view(parameters, bias_));
  }

  void forward(Matrix scores, ScoreMemory& memory, int t, ConstMatrix query, ConstMatrix,
               std::span<const float> parameters) const override {
    const ConstMatrix v = layout_.view(parameters, v_);
    if (has_query_) multiply(step(memory.query, t), query, layout_.view(parameters, query_weight_));
    for (int b = 0; b < memory.episodes; ++b)
      row_products(one_row(scores, b), activations(memory, t, b), v);
  }

  void backward(Matrix dquery, ScoreMemory& memory, int t, ConstMatrix dscores, ConstMatrix,
                ConstMatrix, std::span<const float> parameters) const override {
    const float* v = layout_.view(parameters, v_).data;
    if (t == memory.steps - 1) {
      memory.dkey.fill(0.0F);
      memory.dv.fill(0.0F);
    }
    const Matrix dq = step(memory.dquery, t);
    for (int b = 0; b < memory.episodes; ++b) {
      const ConstMatrix y = activations(memory, t, b);
      add_weighted_rows(matrix(memory.dv), one_row(dscores, b), y);
      const Matrix dp = episode(matrix(memory.dkey), memory, b);
      std::fill_n(dq.row(b), sizes_.hidden, 0.0F);
      for (int k = 0; k < memory.keys; ++k)
        add_sum_gradient(dp.row(k), dq.row(b), dscores(b, k), y.row(k), v);
    }
    if (has_query_ && dquery.data != nullptr)
      multiply_transposed_b(dquery, dq, layout_.view(parameters, query_weight_), 1.0F);
  }

  void finish(std::span<float> gradient, Matrix dkeys, ScoreMemory& memory, int first,
              ConstMatrix queries, ConstMatrix keys,
              std::span<const float> parameters) const override {
    if (first == memory.steps) {
      for (const int parameter : {key_weight_, bias_, v_})
        fill(layout_.view(gradient, parameter), 0.0F);
      if (has_query_) fill(layout_.view(gradient, query_weight_), 0.0F);
      return;
    }
    const ConstMatrix dp = matrix(memory.dkey);
    linear_backward(layout_.view(gradient, key_weight_), layout_.view(gradient, bias_), dp, keys);
    if (has_query_)
      multiply_transposed_a(layout_.view(gradient, query_weight_),
                            rows_from(queries, memory, first),
                            rows_from(matrix(memory.dquery), memory, first));
    std::copy_n(memory.dv.data(), sizes_.hidden, layout_.view(gradient, v_).data);
    if (dkeys.data != nullptr)
      multiply_transposed_b(dkeys, dp, layout_.view(parameters, key_weight_), 1.0F);
  }

  Work work(int steps, int keys) const override {
    const Work query = has_query_ ? linear_work(sizes_.query, sizes_.hidden) : Work{};
    return linear_work(sizes_.key, sizes_.hidden) * keys +
           (query + linear_work(sizes_.hidden, keys)) * steps;
  }

 private:
  // tanh(p + q) (n, hidden) of episode b with query t.
  ConstMatrix activations(ScoreMemory& memory, int t, int b) const {
    const ConstMatrix p = episode(matrix(memory.key), memory, b);
    const Matrix y = matrix(memory.tanh);
    copy_rows(y, p);
    if (has_query_)
      for (int k = 0; k < memory.keys; ++k) add_row(y.row(k), step(memory.query, t).row(b));
    tanh(y.data, y.rows * y.cols);
    return y;
  }

  void add_row(float* __restrict y, const float* __restrict q) const {
    for (int j = 0; j < sizes_.hidden; ++j) y[j] += q[j];
  }

  // Adds the gradient of p + q to dp and dq, given the gradient dscore of v' y, y = tanh(p + q).
  void add_sum_gradient(float* __restrict dp, float* __restrict dq, float dscore,
                        const float* __restrict y, const float* __restrict v) const {
    for (int j = 0; j < sizes_.hidden; ++j) {
      const float dz = dscore * v[j] * (1.0F - y[j] * y[j]);
      dp[j] += dz;
      dq[j] += dz;
    }
  }

  Sizes sizes_;
  bool has_query_;
  const ParameterLayout& layout_;
  int key_weight_, bias_, v_;
  int query_weight_ = -1;  // -1: no query
};

std::unique_ptr<Score> make_dot(const std::string&, Sizes sizes, ParameterLayout&) {
  return std::make_unique<Dot>(sizes, 1.0F);
}

std::unique_ptr<Score> make_scaled_dot(const std::string&, Sizes sizes, ParameterLayout&) {
  return std::make_unique<Dot>(sizes, 1.0F / std::sqrt(static_cast<float>(sizes.key)));
}

std::unique_ptr<Score> make_general(const std::string& name, Sizes sizes, ParameterLayout& layout) {
  return std::make_unique<General>(name, sizes, layout);
}

std::unique_ptr<Score> make_additive(const std::string& name, Sizes sizes,
                                     ParameterLayout& layout) {
  return std::make_unique<Additive>(name, sizes, true, layout);
}

std::unique_ptr<Score> make_location_free(const std::string& name, Sizes sizes,
                                          ParameterLayout& layout) {
  return std::make_unique<Additive>(name, sizes, false, layout);
}

NameTable<ScoreKind>& score_table() {
  static NameTable<ScoreKind> table{
      "a score",
      {{"dot", {.make = make_dot, .needs_equal_widths = true}},
       {"scaled_dot", {.make = make_scaled_dot, .needs_equal_widths = true}},
       {"general", {.make = make_general}},
       {"additive", {.make = make_additive, .has_hidden = true}},
       {"location_free", {.make = make_location_free, .needs_query = false, .has_hidden = true}}}};
  return table;
}

}  // namespace

ScoreMemory::ScoreMemory(int steps_, int episodes_, int keys_, int width, int inner,
                         KeyOrder order_)
    : steps(steps_),
      episodes(episodes_),
      keys(keys_),
      order(order_),
      query(zeros<3>(steps, episodes, width)),
      dquery(zeros<3>(steps, episodes, width)),
      dscores(zeros<3>(steps, episodes, keys)),
      key(zeros<2>(episodes * keys, inner)),
      dkey(zeros<2>(episodes * keys, inner)),
      tanh(zeros<2>(keys, inner)),
      dv(zeros<2>(1, inner)) {}

void check_score(const std::string& kind, int query_size, int key_size,
                 const ScoreSettings& settings) {
  if (!score_table().at(kind, settings.kind).needs_equal_widths || query_size == key_size) return;
  std::vector<std::string> others = score_kinds();
  std::erase_if(others, score_needs_equal_widths);
  throw SettingError(
      {settings.kind, settings.query_size, settings.key_size},
      fmt::format("{}: {} needs {}: {} and {}: {} to be equal; allowed where they are not: {}",
                  settings.kind, kind, settings.query_size, query_size, settings.key_size, key_size,
                  join(others)));
}

std::unique_ptr<Score> make_score(const std::string& kind, const std::string& name, int query_size,
                                  int key_size, int hidden, ParameterLayout& layout,
                                  const ScoreSettings& settings) {
  check_score(kind, query_size, key_size, settings);
  return score_table().at(kind).make(name, {query_size, key_size, hidden}, layout);
}

std::vector<std::string> score_kinds() { return score_table().names(); }
bool score_needs_query(const std::string& kind) { return score_table().at(kind).needs_query; }
bool score_needs_equal_widths(const std::string& kind) {
  return score_table().at(kind).needs_equal_widths;
}

bool score_has_hidden(const std::string& kind) { return score_table().at(kind).has_hidden; }

void register_score(const std::string& name, const ScoreKind& kind) {
  if (kind.make == nullptr)
    throw InputError("a score: '" + name + "' cannot be registered: needed: make");
  score_table().add(name, kind);
}

}  // namespace saccade
