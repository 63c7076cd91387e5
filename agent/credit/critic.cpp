#include "agent/credit/critic.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/credit/advantage.h"
#include "base/error.h"
#include "base/name_table.h"
#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

struct CriticKind {
  bool hidden = false;    // it has a hidden layer
  bool informed = false;  // reads the truth
};

const NameTable<CriticKind>& critics() {
  static const NameTable<CriticKind> table{"reinforce.critic",
                                           {{"linear", {}},
                                            {"mlp", {.hidden = true}},
                                            {"privileged", {.hidden = true, .informed = true}}}};
  return table;
}

constexpr int kTarget = 2;  // x, y

// [h | one-hot label | x, y], row by row.
void add_truth(Tensor<2>& informed, ConstMatrix states, const TruthAt& truth_at, int episodes,
               int num_classes) {
  const int state_size = states.cols;
  const Matrix rows = matrix(informed);
  copy_rows(rows.columns(0, state_size), states);
  for (int r = 0; r < rows.rows; ++r) {
    const SceneFacts& facts = truth_at(r / episodes, r % episodes);
    float* truth = rows.row(r) + state_size;
    std::fill_n(truth, num_classes, 0.0F);
    truth[facts.label] = 1.0F;
    truth[num_classes] = facts.regions[0].x;
    truth[num_classes + 1] = facts.regions[0].y;
  }
}

template <class AnyTensor>
auto last_rows(AnyTensor& tensor, int rows) {
  const auto all = matrix(tensor);
  return all.row_range(all.rows - rows, rows);
}

}  // namespace

Critic::Critic(const ReinforceConfig& config, int state_size, int num_classes,
               ParameterLayout& layout)
    : layout_(&layout),
      state_size_(state_size),
      num_classes_(num_classes),
      informed_(critics().at(config.critic).informed),
      width_(critic_has_hidden(config.critic) ? config.critic_hidden : 0),
      output_(width_ > 0 ? "baseline.output" : "baseline", width_ > 0 ? width_ : state_size, 1,
              constant(0), layout) {
  if (width_ == 0) return;
  const int inputs = state_size + (informed_ ? num_classes + kTarget : 0);
  hidden_weight_ = layout.add("baseline.hidden.weight", inputs, width_, he_normal(inputs));
  hidden_bias_ = layout.add("baseline.hidden.bias", 1, width_, constant(0));
}

CriticMemory Critic::make_memory(int steps, int episodes) const {
  const int rows = steps * episodes;
  return {.episodes = episodes,
          .x = {},
          .informed = zeros<2>(informed_ ? rows : 0, state_size_ + num_classes_ + kTarget),
          .hidden = zeros<2>(width_ > 0 ? rows : 0, width_),
          .dhidden = zeros<2>(width_ > 0 ? rows : 0, width_)};
}

void Critic::forward(Matrix baselines, CriticMemory& memory, ConstMatrix states,
                     const TruthAt& truth, std::span<const float> parameters) const {
  if (informed_) add_truth(memory.informed, states, truth, memory.episodes, num_classes_);
  memory.x = informed_ ? matrix(memory.informed) : states;
  if (width_ == 0) return output_.forward(baselines, memory.x, parameters);
  linear_relu_forward(matrix(memory.hidden), memory.x, layout_->view(parameters, hidden_weight_),
                      layout_->view(parameters, hidden_bias_));
  output_.forward(baselines, matrix(memory.hidden), parameters);
}

void Critic::backward(std::span<float> gradient, ConstMatrix dbaselines, CriticMemory& memory,
                      std::span<const float> parameters) const {
  const int rows = dbaselines.rows;
  const ConstMatrix x = memory.x.row_range(memory.x.rows - rows, rows);
  if (width_ == 0) return output_.backward(gradient, dbaselines, x);
  const Matrix hidden = last_rows(memory.hidden, rows), dhidden = last_rows(memory.dhidden, rows);
  output_.backward(gradient, dbaselines, hidden);
  memory.dhidden.fill(0.0F);
  output_.state_backward(dhidden, dbaselines, parameters);
  relu_backward(dhidden, hidden);
  linear_backward(layout_->view(gradient, hidden_weight_), layout_->view(gradient, hidden_bias_),
                  dhidden, x);
}

void Critic::state_backward(Matrix dstates, ConstMatrix dbaselines, const CriticMemory& memory,
                            std::span<const float> parameters) const {
  if (width_ == 0) return output_.state_backward(dstates, dbaselines, parameters);
  const ConstMatrix w = layout_->view(parameters, hidden_weight_).row_range(0, state_size_);
  multiply_transposed_b(dstates, last_rows(memory.dhidden, dstates.rows), w, 1.0F);
}

Work Critic::work() const {
  if (width_ == 0) return linear_work(state_size_, 1, Input::constant);
  const int inputs = state_size_ + (informed_ ? num_classes_ + kTarget : 0);
  return linear_work(inputs, width_, Input::constant) + linear_work(width_, 1);
}

std::vector<std::string> critic_kinds() { return critics().names(); }
bool critic_has_hidden(const std::string& kind) { return critics().at(kind).hidden; }

void check_critic(const ReinforceConfig& config, AnswerKind answer) {
  const CriticKind& kind = critics().at(config.critic);
  if (kind.informed && answer != AnswerKind::one_class)
    throw SettingError(
        {"reinforce.critic"},
        fmt::format("reinforce.critic: {} is told the class and the place of the target, which "
                    "only tasks with one class and a target have; allowed: linear, mlp",
                    config.critic));
}

}  // namespace saccade
