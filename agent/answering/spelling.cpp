#include "agent/answering/spelling.h"

#include <algorithm>
#include <cmath>

#include "agent/answering/answer.h"
#include "nn/layers.h"
#include "nn/softmax.h"

namespace saccade {

Spelling::Spelling(const Decoder& decoder, const Environment& environment, int steps, int versions)
    : decoder_(decoder),
      environment_(environment),
      versions_(versions),
      memory_(decoder.make_memory(environment.max_symbols(), versions * environment.episodes())),
      previous_(rows()),
      predictions_(static_cast<std::size_t>(rows()) * symbols()),
      dlogits_(zeros<3>(symbols(), rows(), decoder.num_symbols())) {
  if (versions == 1) return;
  states_ = zeros<3>(steps, rows(), decoder.state_size());
  dstates_ = states_;
}

void Spelling::decode(ConstMatrix states, std::span<const int> lengths, bool forced,
                      std::span<const float> parameters) {
  const ConstMatrix read = each_version(states);
  decoder_.begin(memory_, read, lengths, parameters);
  for (int j = 0; j < symbols(); ++j) {
    decoder_.step(memory_, j, previous_, read, parameters);
    const ConstMatrix p = step(memory_.probabilities, j);
    for (int r = 0; r < p.rows; ++r) {
      const int most = static_cast<int>(std::max_element(p.row(r), p.row(r) + p.cols) - p.row(r));
      predictions_[r * symbols() + j] = most;
      previous_[r] = forced ? true_symbol(r, j) : most;
    }
  }
}

// Every version has a copy of the states, so that one decoder reads them all.
ConstMatrix Spelling::each_version(ConstMatrix states) {
  if (versions_ == 1) return states;
  const int batch = rows() / versions_;
  const Matrix copies = matrix(states_);
  for (int from = 0, to = 0; from < states.rows; from += batch)
    for (int v = 0; v < versions_; ++v, to += batch)
      copy_rows(copies.row_range(to, batch), states.row_range(from, batch));
  return copies;
}

float Spelling::probability(int row) const {
  double product = 1.0;
  for (int j = 0; j < symbols(); ++j) {
    const int symbol = predictions(row)[j];
    product *= memory_.probabilities(j, row, symbol);
    if (symbol == end_mark()) break;
  }
  return static_cast<float>(product);
}

float Spelling::worth(int row, const RewardKind& reward, const OwnValues& own) const {
  const int count = facts(row).num_symbols;
  float sum = 0.0F;
  for (int j = 0; j < count; ++j)
    sum += reward.of_answer(predictions(row)[j] == true_symbol(row, j),
                            memory_.probabilities(j, row, true_symbol(row, j)),
                            chance_of(decoder_.num_symbols()), own);
  return sum / static_cast<float>(count);
}

double Spelling::loss_of(int row, int j) const {
  return cross_entropy(&memory_.logits(j, row, 0), decoder_.num_symbols(), true_symbol(row, j));
}

double Spelling::loss(int row) const {
  double sum = 0.0;
  for (int j = 0; j < facts(row).num_symbols; ++j) sum += loss_of(row, j);
  return sum;
}

double Spelling::backward(std::span<float> gradient, Matrix dstates,
                          std::span<const double> weights, float scale, ConstMatrix states,
                          std::span<const float> parameters) {
  dlogits_.fill(0.0F);
  double loss = 0.0;
  for (int j = 0; j < symbols(); ++j)
    for (int r = 0; r < rows(); ++r) {
      if (j >= facts(r).num_symbols) continue;
      const float factor = static_cast<float>(weights[r]) * scale;
      const float* p = &memory_.probabilities(j, r, 0);
      float* dlogits = &dlogits_(j, r, 0);
      loss += weights[r] * loss_of(r, j);
      for (int c = 0; c < decoder_.num_symbols(); ++c) dlogits[c] = factor * p[c];
      dlogits[true_symbol(r, j)] -= factor;
    }
  decoder_backward(gradient, dstates, states, parameters);
  return loss;
}

void Spelling::logits_backward(std::span<float> gradient, Matrix dstates, ConstMatrix dlogits,
                               ConstMatrix states, std::span<const float> parameters) {
  copy_rows(matrix(dlogits_), dlogits);
  decoder_backward(gradient, dstates, states, parameters);
}

void Spelling::decoder_backward(std::span<float> gradient, Matrix dstates, ConstMatrix states,
                                std::span<const float> parameters) {
  if (versions_ == 1)
    return decoder_.backward(gradient, dstates, memory_, matrix(dlogits_), states, parameters);
  dstates_.fill(0.0F);
  const Matrix copies = matrix(dstates_);
  decoder_.backward(gradient, copies, memory_, matrix(dlogits_), matrix(states_), parameters);
  const int batch = rows() / versions_;
  for (int to = 0, from = 0; to < dstates.rows; to += batch)
    for (int v = 0; v < versions_; ++v, from += batch)
      add(dstates.row_range(to, batch), copies.row_range(from, batch));
}

}  // namespace saccade
