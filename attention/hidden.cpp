#include "attention/hidden.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/name_table.h"
#include "nn/rows.h"

namespace saccade {
namespace {

// Kinds without parameters: the mean of the states, or the last one.
class Pooling : public HiddenAttention {
 public:
  using HiddenAttention::HiddenAttention;

  int output_size() const override { return state_size_; }
  HiddenMemory make_memory(int steps, int episodes) const override { return {steps, episodes, 1}; }
  void finish(std::span<float>, Matrix, HiddenMemory&, int, ConstMatrix,
              std::span<const float>) const override {}
  Work work(int, int) const override { return {}; }
};

class Mean final : public Pooling {
 public:
  using Pooling::Pooling;

  void forward(Matrix output, HiddenMemory& memory, int t, ConstMatrix values,
               std::span<const float>) const override {
    for (int b = 0; b < memory.episodes; ++b) {
      float* weights = &memory.weights(t, b, 0);
      write_mask(weights, memory, t, b);
      const float n = static_cast<float>(std::max(count(memory, t, b), 1));
      for (int k = 0; k < memory.steps; ++k) weights[k] /= n;
      mean_forward(output.row(b), memory, t, b, values);
    }
  }

  double backward(Matrix dvalues, HiddenMemory& memory, int t, ConstMatrix doutput, ConstMatrix,
                  float, std::span<const float>) const override {
    for (int b = 0; b < memory.episodes; ++b) mean_backward(dvalues, memory, t, b, doutput.row(b));
    return 0.0;
  }
};

class Last final : public Pooling {
 public:
  using Pooling::Pooling;

  void forward(Matrix output, HiddenMemory& memory, int t, ConstMatrix values,
               std::span<const float>) const override {
    for (int b = 0; b < memory.episodes; ++b) {
      const int last = length(memory, t, b) - 1;
      std::fill_n(&memory.weights(t, b, 0), memory.steps, 0.0F);
      memory.weights(t, b, last) = 1.0F;
      std::copy_n(states(values, memory, t, b).row(last), state_size_, output.row(b));
    }
  }

  double backward(Matrix dvalues, HiddenMemory& memory, int t, ConstMatrix doutput, ConstMatrix,
                  float, std::span<const float>) const override {
    for (int b = 0; b < memory.episodes; ++b) {
      float* dlast = states(dvalues, memory, t, b).row(length(memory, t, b) - 1);
      for (int i = 0; i < state_size_; ++i) dlast[i] += doutput(b, i);
    }
    return 0.0;
  }
};

template <class Read>
std::unique_ptr<HiddenAttention> make_pooling(const HiddenConfig& config, const std::string&,
                                              int state_size, int steps, ParameterLayout&) {
  return std::make_unique<Read>(config, state_size, steps);
}

void check_nothing(const HiddenConfig&) {}

struct ReadKind {
  decltype(&make_hidden_self) make;
  void (*check)(const HiddenConfig&) = check_nothing;
  bool reads_a_state = true;
  bool attends = false;   // by a score: the settings of AttendConfig, a query and an output
  bool has_hops = false;  // several distributions, and a penalty for those that are alike
  bool weighs = true;     // several states, of which the mask may exclude some
};

const NameTable<ReadKind>& read_table() {
  static const NameTable<ReadKind> table{
      "attention.hidden.kind",
      {{"last", {.make = make_pooling<Last>, .weighs = false}},
       {"mean", {.make = make_pooling<Mean>}},
       {"attend", {.make = make_hidden_attend, .check = check_hidden_attend, .attends = true}},
       {"self",
        {.make = make_hidden_self,
         .check = check_hidden_self,
         .reads_a_state = false,
         .has_hops = true}}}};
  return table;
}

}  // namespace

std::vector<float> parse_mask(const std::string& mask, int steps) {
  if (mask.empty()) return std::vector<float>(steps, 1.0F);
  const bool digits = mask.find_first_not_of("01") == std::string::npos;
  if (static_cast<int>(mask.size()) != steps || !digits || mask.find('1') == std::string::npos)
    throw SettingError(
        {"attention.hidden.mask"},
        fmt::format(
            "attention.hidden.mask: '{}'; allowed: {} digits, one a step, 1 for what may be "
            "read and 0 for what may not, with at least one 1; or null",
            mask, steps));
  std::vector<float> allowed;
  for (const char digit : mask) allowed.push_back(digit == '1' ? 1.0F : 0.0F);
  return allowed;
}

HiddenMemory::HiddenMemory(int steps_, int episodes_, int hops)
    : steps(steps_),
      episodes(episodes_),
      weights(zeros<3>(steps, episodes, hops * steps)),
      lengths(episodes, steps) {}

HiddenAttention::HiddenAttention(const HiddenConfig& config, int state_size, int steps)
    : state_size_(state_size),
      allowed_(parse_mask(config.mask, steps)),
      allowed_before_(steps + 1) {
  for (int k = 0; k < steps; ++k)
    allowed_before_[k + 1] = allowed_before_[k] + (allowed_[k] != 0.0F ? 1 : 0);
}

void HiddenAttention::prepare(HiddenMemory& memory, [[maybe_unused]] ConstMatrix values,
                              std::span<const int> lengths, std::span<const float>) const {
  SACCADE_CHECK(memory.steps <= static_cast<int>(allowed_.size()));
  SACCADE_CHECK(values.rows == memory.steps * memory.episodes && values.cols == state_size_);
  SACCADE_CHECK(lengths.size() == memory.lengths.size());
  for ([[maybe_unused]] const int n : lengths) SACCADE_CHECK(1 <= n && n <= memory.steps);
  std::ranges::copy(lengths, memory.lengths.begin());
}

void HiddenAttention::write_mask(float* mask, const HiddenMemory& memory, int t, int b) const {
  const int n = length(memory, t, b);
  std::copy_n(allowed_.data(), n, mask);
  std::fill_n(mask + n, memory.steps - n, 0.0F);
}

void HiddenAttention::mean_forward(float* mean, const HiddenMemory& memory, int t, int b,
                                   ConstMatrix values) const {
  weighted_rows(mean, allowed_.data(), states(values, memory, t, b));
  const float n = static_cast<float>(std::max(count(memory, t, b), 1));
  for (int i = 0; i < state_size_; ++i) mean[i] /= n;
}

void HiddenAttention::mean_backward(Matrix dvalues, const HiddenMemory& memory, int t, int b,
                                    const float* dmean) const {
  const Matrix dstates = states(dvalues, memory, t, b);
  for (int k = 0; k < dstates.rows; ++k) {
    if (allowed_[k] == 0.0F) continue;
    const float weight = 1.0F / static_cast<float>(count(memory, t, b));
    add_weighted_rows(dstates.row(k), &weight, {dmean, 1, state_size_, state_size_});
  }
}

std::unique_ptr<HiddenAttention> make_hidden_attention(const HiddenConfig& config,
                                                       const std::string& name, int state_size,
                                                       int steps, ParameterLayout& layout) {
  check(config);
  return read_table().at(config.kind).make(config, name, state_size, steps, layout);
}

Settings describe(HiddenConfig& config, const Needs& read_once) {
  AttendConfig& attend = config.attend;
  const auto of_kinds = [&](const auto& trait) {
    return when(&config.kind, hidden_kinds(),
                [&](const std::string& name) { return trait(read_table().at(name)); });
  };
  const Condition attends = of_kinds([](const ReadKind& kind) { return kind.attends; });
  const Condition has_hops = of_kinds([](const ReadKind& kind) { return kind.has_hops; });
  const Condition weighs = of_kinds([](const ReadKind& kind) { return kind.weighs; });
  const Condition has_score =
      of_kinds([](const ReadKind& kind) { return kind.attends || kind.has_hops; });
  const Condition local = when(&attend.area, attention_areas(), area_is_local);
  return {
      {"attention.hidden.kind", &config.kind, hidden_kinds(),
       "Attention over the states h_1 .. h_T that the answer reads"},
      {"attention.hidden.query", &config.query, hidden_queries(), "Query of the attention",
       attends && read_once},
      {"attention.hidden.output", &config.output, hidden_outputs(),
       "Output of the attention: the context, with or without the last state",
       attends && read_once},
      {"attention.hidden.score", &attend.score, score_kinds(), "Score of a state against the query",
       attends},
      {"attention.hidden.score_hidden", &attend.score_hidden, kLayerWidth,
       "Width of the hidden layer of the score, or of what predicts the centre",
       has_score && (has_hops || when(&attend.score, score_kinds(), score_has_hidden) ||
                     when(&attend.position, attention_positions(), position_is_predicted))},
      {"attention.hidden.area", &attend.area, attention_areas(),
       "States within reach: all, or those near a centre", attends},
      {"attention.hidden.position", &attend.position, attention_positions(),
       "Centre of the local area", attends && local},
      {"attention.hidden.window", &attend.window, kAttendWindow,
       "Number of states in reach on each side of the centre", attends && local},
      {"attention.hidden.mask", &config.mask, Text::mask,
       "Steps that may be read: a digit for each, 1 or 0. null: all", weighs},
      {"attention.hidden.hops", &config.hops, kHops, "Number of rows of the matrix A of self",
       has_hops},
      {"attention.hidden.penalty", &config.penalty, kLossWeight,
       "Weight of the penalty |A A' - I|^2", has_hops},
  };
}

void check(const HiddenConfig& config) { read_table().at(config.kind).check(config); }
std::vector<std::string> hidden_kinds() { return read_table().names(); }
bool hidden_reads_a_state(const std::string& kind) { return read_table().at(kind).reads_a_state; }
bool hidden_attends(const std::string& kind) { return read_table().at(kind).attends; }
bool hidden_weighs(const std::string& kind) { return read_table().at(kind).weighs; }

}  // namespace saccade
