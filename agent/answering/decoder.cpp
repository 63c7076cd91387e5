#include "agent/answering/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "attention/categorical.h"
#include "base/error.h"
#include "base/name_table.h"
#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

std::unique_ptr<const HiddenAttention> steady_read(const HiddenConfig& hidden, int state_size,
                                                   int steps, ParameterLayout& layout) {
  if (hidden_attends(hidden.kind)) return nullptr;
  return make_hidden_attention(hidden, "decoder.context", state_size, steps, layout);
}

std::optional<Attend> attend_of(const HiddenConfig& hidden, int query_size, int state_size,
                                ParameterLayout& layout) {
  if (!hidden_attends(hidden.kind)) return {};
  return std::optional<Attend>(std::in_place, "decoder.attend", hidden.attend, query_size,
                               state_size, layout);
}

DecoderConfig checked(const DecoderConfig& config, const HiddenConfig& hidden, int state_size) {
  check(config, hidden, state_size);
  return config;
}

// Empty for a kind that reads none.
std::string checked_mask(const HiddenConfig& hidden, int steps) {
  if (!hidden_weighs(hidden.kind)) return {};
  parse_mask(hidden.mask, steps);
  return hidden.mask;
}

}  // namespace

void check(const DecoderConfig& config, const HiddenConfig& hidden, int state_size) {
  if (!hidden_reads_a_state(hidden.kind)) {
    std::vector<std::string> others = hidden_kinds();
    std::erase_if(others, std::not_fn(hidden_reads_a_state));
    throw SettingError({"attention.hidden.kind"},
                       "attention.hidden.kind: " + hidden.kind +
                           " reads once and cannot say a sequence; allowed: " + join(others));
  }
  if (hidden_attends(hidden.kind))
    check(hidden.attend, config.hidden_size, state_size);
  else
    check(hidden);
}

Decoder::Decoder(const DecoderConfig& config, const HiddenConfig& hidden, int num_symbols,
                 int state_size, int steps, ParameterLayout& layout)
    : config_(checked(config, hidden, state_size)),
      num_symbols_(num_symbols),
      state_size_(state_size),
      steps_(steps),
      mask_(checked_mask(hidden, steps)),
      core_(make_core(config.core, "decoder.core",
                      {.features = num_symbols + state_size, .hidden = config.hidden_size},
                      layout)),
      last_(make_hidden_attention({}, "decoder.first", state_size, steps, layout)),
      steady_(steady_read(hidden, state_size, steps, layout)),
      attend_(attend_of(hidden, config.hidden_size, state_size, layout)),
      output_("decoder.output", config.hidden_size + state_size, num_symbols,
              uniform_fan_in(config.hidden_size + state_size), layout) {}

DecoderMemory Decoder::make_memory(int symbols, int episodes) const {
  const int joint = config_.hidden_size + state_size_;
  return {.core = core_->make_memory(symbols, episodes),
          .attend = attend_ ? std::optional(attend_->make_memory(symbols, episodes, steps_,
                                                                 KeyOrder::by_step))
                            : std::nullopt,
          .first = last_->make_memory(steps_, episodes),
          .steady = steady_ ? std::optional(steady_->make_memory(steps_, episodes)) : std::nullopt,
          .mask = zeros<2>(episodes, steps_),
          .first_context = zeros<2>(episodes, state_size_),
          .joint = zeros<3>(symbols, episodes, joint),
          .djoint = zeros<3>(symbols, episodes, joint),
          .logits = zeros<3>(symbols, episodes, num_symbols_),
          .probabilities = zeros<3>(symbols, episodes, num_symbols_),
          .dinput = zeros<2>(episodes, num_symbols_ + state_size_),
          .dcontext = zeros<2>(episodes, state_size_)};
}

Matrix Decoder::state(DecoderMemory& memory, int j) const {
  return saccade::step(memory.joint, j).columns(0, config_.hidden_size);
}

Matrix Decoder::context(DecoderMemory& memory, int j) const {
  return saccade::step(memory.joint, j).columns(config_.hidden_size, state_size_);
}

void Decoder::begin(DecoderMemory& memory, ConstMatrix states, std::span<const int> lengths,
                    std::span<const float> parameters) const {
  for (int b = 0; b < memory.episodes(); ++b) {
    float* mask = &memory.mask(b, 0);
    for (int t = 0; t < steps_; ++t) mask[t] = t < lengths[b] && allowed(t) ? 1.0F : 0.0F;
    if (attend_ && std::count(mask, mask + steps_, 1.0F) == 0)
      throw SettingError(
          {"attention.hidden.mask", "attention.hidden.kind"},
          fmt::format("attention.hidden.mask: '{}' allows none of the {} states of an episode; "
                      "allowed with attention.hidden.kind: attend: at least one of the shortest's",
                      mask_, lengths[b]));
  }
  last_->prepare(memory.first, states, lengths, parameters);
  last_->forward(matrix(memory.first_context), memory.first, steps_ - 1, states, parameters);
  if (attend_) return attend_->prepare(*memory.attend, states, parameters);
  steady_->prepare(*memory.steady, states, lengths, parameters);
}

bool Decoder::may_read(std::span<const int> lengths) const {
  int first = 0;  // that may be read
  while (first < steps_ && !allowed(first)) ++first;
  return !attend_ || std::ranges::all_of(lengths, [&](int length) { return length > first; });
}

void Decoder::step(DecoderMemory& memory, int j, std::span<const int> previous, ConstMatrix states,
                   std::span<const float> parameters) const {
  const Matrix input = memory.core.feature(j);
  copy_rows(input.columns(num_symbols_, state_size_),
            j == 0 ? matrix(memory.first_context) : context(memory, j - 1));
  for (int b = 0; b < input.rows; ++b) {
    std::fill_n(input.row(b), num_symbols_, 0.0F);
    if (j > 0) input(b, previous[b]) = 1.0F;
  }
  core_->forward(memory.core, j, parameters);
  copy_rows(state(memory, j), memory.core.state(j + 1));
  if (attend_)
    attend_->forward(context(memory, j), *memory.attend, j, memory.core.state(j + 1), states,
                     matrix(memory.mask), parameters);
  else if (j == 0)
    steady_->forward(context(memory, 0), *memory.steady, steps_ - 1, states, parameters);
  else
    copy_rows(context(memory, j), context(memory, 0));
  const Matrix logits = saccade::step(memory.logits, j);
  output_.forward(logits, saccade::step(memory.joint, j), parameters);
  softmax_forward(saccade::step(memory.probabilities, j), logits, 1.0F);
}

void Decoder::backward(std::span<float> gradient, Matrix dstates, DecoderMemory& memory,
                       ConstMatrix dlogits, ConstMatrix states,
                       std::span<const float> parameters) const {
  memory.djoint.fill(0.0F);
  output_.backward(gradient, dlogits, matrix(memory.joint));
  output_.state_backward(matrix(memory.djoint), dlogits, parameters);
  const Matrix dcontext = matrix(memory.dcontext);
  const Matrix fed = matrix(memory.dinput).columns(num_symbols_, state_size_);
  memory.core.dstate.fill(0.0F);
  memory.dcontext.fill(0.0F);
  for (int j = memory.symbols() - 1; j >= 0; --j) {
    const Matrix ds = saccade::step(memory.core.dstate, j);
    const ConstMatrix djoint = saccade::step(memory.djoint, j);
    add(ds, djoint.columns(0, config_.hidden_size));
    if (attend_) memory.dcontext.fill(0.0F);  // all steps share the steady context
    add(dcontext, djoint.columns(config_.hidden_size, state_size_));
    if (j + 1 < memory.symbols()) add(dcontext, fed);
    if (attend_)
      attend_->backward(ds, dstates, *memory.attend, j, dcontext, memory.core.state(j + 1), states,
                        matrix(memory.mask), parameters);
    core_->step_backward(memory.core, j, parameters);
    core_->feature_backward(matrix(memory.dinput), memory.core, j, 1, parameters);
  }
  core_->weight_backward(gradient, memory.core);
  if (attend_) {
    attend_->finish(gradient, dstates, *memory.attend, 0, memory.core.states(), states, parameters);
  } else {
    steady_->backward(dstates, *memory.steady, steps_ - 1, dcontext, states, 0.0F, parameters);
    steady_->finish(gradient, dstates, *memory.steady, steps_ - 1, states, parameters);
  }
  last_->backward(dstates, memory.first, steps_ - 1, fed, states, 0.0F, parameters);
  last_->finish(gradient, dstates, memory.first, steps_ - 1, states, parameters);
}

void Decoder::reorder(DecoderMemory& memory, int j, std::span<const int> parents) const {
  core_->reorder(memory.core, j, parents);
  reorder_rows(saccade::step(memory.joint, j), parents);
}

Work Decoder::work(int symbols) const {
  const int joint = config_.hidden_size + state_size_;
  Work total = core_->work(symbols) + linear_work(joint, num_symbols_) * symbols;
  if (attend_) total = total + attend_->work(symbols, steps_);
  return total;
}

}  // namespace saccade
