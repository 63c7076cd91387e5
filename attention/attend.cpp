#include "attention/attend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/categorical.h"
#include "attention/setting_range.h"
#include "base/error.h"
#include "base/name_table.h"
#include "nn/gemm.h"
#include "nn/layers.h"
#include "nn/rows.h"

namespace saccade {
namespace {

NameTable<bool> areas(const std::string& section) {
  return {section + ".area", {{"global", false}, {"local", true}}};
}
NameTable<bool> positions(const std::string& section) {
  return {section + ".position", {{"current", false}, {"predicted", true}}};
}

// Queries whose width differs from that of the values belong to a decoder.
ScoreSettings score_settings(const std::string& section) {
  return {section + ".score", "decoder.hidden_size", "model.hidden_size"};
}

std::vector<std::string> scores_of_no_query() {
  std::vector<std::string> names = score_kinds();
  std::erase_if(names, score_needs_query);
  return names;
}

// Returns the number of values up to the last allowed one.
int allowed_length(const float* mask, int n) {
  while (n > 0 && mask[n - 1] == 0.0F) --n;
  return n;
}

// Returns the allowed value nearest to `place`; the first of equals.
int nearest_allowed(const float* mask, int n, float place) {
  int nearest = -1;
  float least = INFINITY;
  for (int k = 0; k < n; ++k) {
    const float distance = std::abs(static_cast<float>(k) - place);
    if (mask[k] == 0.0F || distance >= least) continue;
    nearest = k;
    least = distance;
  }
  return nearest;
}

// Returns the first m values of episode b.
template <class T>
MatrixView<T> values_of(MatrixView<T> values, const AttendMemory& memory, int b, int m) {
  return keys_of_episode(values, memory.score.order, memory.score.episodes, b).row_range(0, m);
}

}  // namespace

std::vector<std::string> attention_areas() { return areas("").names(); }
std::vector<std::string> attention_positions() { return positions("").names(); }
bool area_is_local(const std::string& area) { return areas("").at(area); }
bool position_is_predicted(const std::string& position) { return positions("").at(position); }

void check(const AttendConfig& config, int query_size, int value_size, const std::string& section) {
  check_score(config.score, query_size, value_size, score_settings(section));
  const bool local = areas(section).at(config.area);
  const bool predicted = local && positions(section).at(config.position);
  check_range(section + ".score_hidden", config.score_hidden, kLayerWidth);
  if (local) check_range(section + ".window", config.window, kAttendWindow);
  if (predicted && !score_needs_query(config.score))
    throw SettingError(
        {section + ".position", section + ".score"},
        fmt::format("{0}.position: predicted needs a query, but {0}.score: {1} has none; allowed: "
                    "current",
                    section, config.score));
  if (score_needs_query(config.score) && query_size < 1)
    throw SettingError({section + ".score"},
                       fmt::format("{}.score: {} needs a query, but there is none; allowed: {}",
                                   section, config.score, join(scores_of_no_query())));
}

Attend::Attend(const std::string& name, const AttendConfig& config, int query_size, int value_size,
               ParameterLayout& layout, const std::string& section)
    : local_(areas(section).at(config.area)),
      predicted_(local_ && positions(section).at(config.position)),
      query_size_(query_size),
      value_size_(value_size),
      hidden_(config.score_hidden),
      window_(config.window),
      layout_(layout) {
  check(config, query_size, value_size, section);
  score_ = make_score(config.score, name + ".score", query_size, value_size, hidden_, layout,
                      score_settings(section));
  if (!predicted_) return;
  position_weight_ =
      layout.add(name + ".position.weight", query_size, hidden_, uniform_fan_in(query_size));
  position_v_ = layout.add(name + ".position.v", 1, hidden_, uniform_fan_in(hidden_));
}

AttendMemory Attend::make_memory(int queries, int episodes, int values, KeyOrder order) const {
  const int local = local_ ? values : 0;
  AttendMemory memory{.weights = zeros<3>(queries, episodes, values),
                      .score = score_->make_memory(queries, episodes, values, order),
                      .dscores = zeros<2>(episodes, values),
                      .softmax = zeros<3>(queries, episodes, local),
                      .centre = zeros<2>(queries, local_ ? episodes : 0),
                      .window = zeros<1>(local)};
  if (predicted_) {
    memory.activation = memory.dactivation = zeros<3>(queries, episodes, hidden_);
    memory.share = memory.dshare = zeros<3>(queries, episodes, 1);
  }
  return memory;
}

void Attend::prepare(AttendMemory& memory, ConstMatrix values,
                     std::span<const float> parameters) const {
  score_->prepare(memory.score, values, parameters);
}

void Attend::forward(Matrix context, AttendMemory& memory, int j, ConstMatrix query,
                     ConstMatrix values, ConstMatrix mask,
                     std::span<const float> parameters) const {
  const Matrix weights = step(memory.weights, j);
  const int n = weights.cols;
  SACCADE_CHECK(mask.rows == weights.rows && mask.cols == n && context.cols == value_size_);
  for (int b = 0; b < mask.rows; ++b)
    if (allowed_length(mask.row(b), n) == 0)
      throw InputError(fmt::format(
          "attention over nothing: the mask of episode {} allows none of its {} values; allowed: "
          "at least one",
          b, n));

  score_->forward(weights, memory.score, j, query, values, parameters);
  if (predicted_) predict_forward(memory, j, query, parameters);
  for (int b = 0; b < mask.rows; ++b) {
    if (local_)
      local_forward(memory, j, b, mask.row(b));
    else
      masked_softmax(weights.row(b), mask.row(b), n);
    // Later values are not written yet and may hold anything.
    weighted_rows(context.row(b), weights.row(b),
                  values_of(values, memory, b, allowed_length(mask.row(b), n)));
  }
}

void Attend::backward(Matrix dquery, Matrix dvalues, AttendMemory& memory, int j,
                      ConstMatrix dcontext, ConstMatrix query, ConstMatrix values, ConstMatrix mask,
                      std::span<const float> parameters) const {
  const ConstMatrix weights = step(memory.weights, j);
  const Matrix dscores = matrix(memory.dscores);
  memory.dscores.fill(0.0F);
  for (int b = 0; b < mask.rows; ++b) {
    const int m = allowed_length(mask.row(b), mask.cols);
    row_products(dscores.row(b), values_of(values, memory, b, m), dcontext.row(b));
    const Matrix dv = values_of(dvalues, memory, b, m);
    for (int k = 0; k < m; ++k)
      if (weights(b, k) != 0.0F)
        add_weighted_rows(dv.row(k), &weights(b, k), dcontext.row_range(b, 1));
    if (local_) local_backward(dscores.row(b), memory, j, b, mask.row(b));
  }
  softmax_backward(dscores, dscores, local_ ? step(memory.softmax, j) : weights, 1.0F);
  score_->backward(dquery, memory.score, j, dscores, query, values, parameters);
  if (predicted_) predict_backward(dquery, memory, j, parameters);
}

void Attend::finish(std::span<float> gradient, Matrix dvalues, AttendMemory& memory, int first,
                    ConstMatrix queries, ConstMatrix values,
                    std::span<const float> parameters) const {
  score_->finish(gradient, dvalues, memory.score, first, queries, values, parameters);
  if (!predicted_) return;
  const Matrix dweight = layout_.view(gradient, position_weight_);
  const Matrix dv = layout_.view(gradient, position_v_);
  const int skipped = first * memory.score.episodes;
  const int rows = memory.score.steps * memory.score.episodes - skipped;
  if (rows == 0) {
    for (int r = 0; r < dweight.rows; ++r) std::fill_n(dweight.row(r), hidden_, 0.0F);
    std::fill_n(dv.data, hidden_, 0.0F);
    return;
  }
  multiply_transposed_a(dweight, queries.row_range(skipped, rows),
                        matrix(memory.dactivation).row_range(skipped, rows));
  weighted_rows(dv.data, memory.dshare.data() + skipped,
                matrix(memory.activation).row_range(skipped, rows));
}

Work Attend::work(int queries, int values) const {
  Work work = score_->work(queries, values) + linear_work(value_size_, values) * queries;
  if (predicted_)
    work = work + (linear_work(query_size_, hidden_) + linear_work(hidden_, 1)) * queries;
  return work;
}

void Attend::predict_forward(AttendMemory& memory, int j, ConstMatrix query,
                             std::span<const float> parameters) const {
  const Matrix activation = step(memory.activation, j), share = step(memory.share, j);
  multiply(activation, query, layout_.view(parameters, position_weight_));
  tanh(activation.data, activation.rows * hidden_);
  row_products(share.data, activation, layout_.view(parameters, position_v_).data);
  for (int b = 0; b < share.rows; ++b) sigmoid(share.row(b), 1);
}

// Takes memory.dshare of query j.
void Attend::predict_backward(Matrix dquery, AttendMemory& memory, int j,
                              std::span<const float> parameters) const {
  const float* v = layout_.view(parameters, position_v_).data;
  const ConstMatrix activation = step(memory.activation, j), dshare = step(memory.dshare, j);
  const Matrix dactivation = step(memory.dactivation, j);
  for (int b = 0; b < dshare.rows; ++b)
    for (int i = 0; i < hidden_; ++i) {
      const float y = activation(b, i);
      dactivation(b, i) = dshare(b, 0) * v[i] * (1.0F - y * y);
    }
  if (dquery.data != nullptr)
    multiply_transposed_b(dquery, dactivation, layout_.view(parameters, position_weight_), 1.0F);
}

// Turns the scores in memory.weights into weights.
void Attend::local_forward(AttendMemory& memory, int j, int b, const float* mask) const {
  const int n = memory.score.keys, last = allowed_length(mask, n) - 1;
  const float centre = predicted_ ? static_cast<float>(last) * memory.share(j, b, 0)
                                  : static_cast<float>(std::min(j, last));
  memory.centre(j, b) = centre;
  float* window = memory.window.data();
  for (int k = 0; k < n; ++k) {
    const float distance = std::abs(static_cast<float>(k) - centre);
    window[k] = distance <= static_cast<float>(window_) ? mask[k] : 0.0F;
  }
  if (allowed_length(window, n) == 0) window[nearest_allowed(mask, n, centre)] = 1.0F;

  float* weights = &memory.weights(j, b, 0);
  masked_softmax(weights, window, n);
  std::copy_n(weights, n, &memory.softmax(j, b, 0));
  for (int k = 0; k < n; ++k) weights[k] *= gaussian(static_cast<float>(k) - centre);
}

// Turns the gradient of the weights into that of the softmax, in place, and computes that of the
// centre.
void Attend::local_backward(float* dweights, AttendMemory& memory, int j, int b,
                            const float* mask) const {
  const int n = memory.score.keys, last = allowed_length(mask, n) - 1;
  const float centre = memory.centre(j, b), sigma = 0.5F * static_cast<float>(window_);
  float dcentre = 0.0F;
  for (int k = 0; k < n; ++k) {
    const float distance = static_cast<float>(k) - centre;
    dcentre += dweights[k] * memory.weights(j, b, k) * distance / (sigma * sigma);
    dweights[k] *= gaussian(distance);
  }
  if (!predicted_) return;
  const float share = memory.share(j, b, 0);
  memory.dshare(j, b, 0) = dcentre * static_cast<float>(last) * share * (1.0F - share);
}

float Attend::gaussian(float distance) const {
  const float sigma = 0.5F * static_cast<float>(window_);
  return std::exp(-0.5F * distance * distance / (sigma * sigma));
}

}  // namespace saccade
