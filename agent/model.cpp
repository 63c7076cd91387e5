#include "agent/model.h"

#include <algorithm>
#include <cmath>

#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {

Locator::Locator(int inputs, int hidden, const std::string& output, std::vector<float> initial_bias,
                 ParameterLayout& layout)
    : layout_(&layout),
      inputs_(inputs),
      width_(hidden),
      outputs_(static_cast<int>(initial_bias.size())),
      hidden_weight_(layout.add("locator.hidden.weight", inputs, hidden, he_normal(inputs))),
      hidden_bias_(layout.add("locator.hidden.bias", 1, hidden, constant(0))),
      output_weight_(layout.add("locator." + output + ".weight", hidden, outputs_, normal(0.01F))),
      output_bias_(layout.add(
          "locator." + output + ".bias", 1, outputs_,
          [bias = std::move(initial_bias)](RandomStream&, int, int col) { return bias[col]; })) {}

void Locator::forward(Matrix y, Matrix hidden, ConstMatrix state,
                      std::span<const float> parameters) const {
  const auto p = [&](int index) { return layout_->view(parameters, index); };
  linear_relu_forward(hidden, state, p(hidden_weight_), p(hidden_bias_));
  linear_forward(y, hidden, p(output_weight_), p(output_bias_));
}

void Locator::activation_backward(Matrix dhidden, ConstMatrix dy, ConstMatrix hidden,
                                  std::span<const float> parameters) const {
  multiply_transposed_b(dhidden, dy, layout_->view(parameters, output_weight_));
  relu_backward(dhidden, hidden);
}

void Locator::state_backward(Matrix dstate, ConstMatrix dhidden,
                             std::span<const float> parameters) const {
  multiply_transposed_b(dstate, dhidden, layout_->view(parameters, hidden_weight_), 1.0F);
}

void Locator::weight_backward(std::span<float> gradient, ConstMatrix dhidden, ConstMatrix dy,
                              ConstMatrix hidden, ConstMatrix state) const {
  const auto d = [&](int index) { return layout_->view(gradient, index); };
  linear_backward(d(output_weight_), d(output_bias_), dy, hidden);
  linear_backward(d(hidden_weight_), d(hidden_bias_), dhidden, state);
}

Work Locator::work(bool state_gradient) const {
  return linear_work(inputs_, width_, state_gradient) + linear_work(width_, outputs_, true);
}

namespace {
using Family = GlimpseKind::Family;
using Learning = GlimpseKind::Learning;

// A model that sees the whole canvas has no looks of any kind.
GlimpseKind look_kind(const AgentConfig& config) {
  if (config.model.kind != "recurrent") return {Family::point, Learning::none};
  return find_glimpse_kind(config.glimpse.kind);
}

std::unique_ptr<const CanvasNetwork> canvas_network_of(const ModelConfig& model, CanvasSize canvas,
                                                       ParameterLayout& layout) {
  if (model.kind == "recurrent") return nullptr;
  return make_canvas_network(model.kind,
                             {.channels = canvas.channels,
                              .rows = canvas.rows,
                              .cols = canvas.cols,
                              .hidden = model.canvas_hidden,
                              .conv_channels = model.channels,
                              .kernel_size = model.kernel_size,
                              .features = model.feature_size},
                             layout);
}

std::optional<GlimpseNetwork> glimpse_network_of(GlimpseKind kind, const ModelConfig& model,
                                                 int glimpse_size, ParameterLayout& layout) {
  if (model.kind != "recurrent" || kind.family == Family::whole) return {};
  return GlimpseNetwork({.glimpse = glimpse_size,
                         .what = model.glimpse_hidden,
                         .where = model.location_hidden,
                         .features = model.feature_size},
                        layout);
}

std::optional<InputGate> gate_of(const AgentConfig& config, int features, ParameterLayout& layout) {
  if (config.input.kind == "none") return {};
  return std::optional<InputGate>(std::in_place, config.input, "gate", features,
                                  config.model.hidden_size, layout);
}

std::unique_ptr<const Core> core_of(const ModelConfig& model, int features,
                                    ParameterLayout& layout) {
  if (model.kind != "recurrent") return make_identity_core(model.feature_size);
  return make_core(model.core, "core",
                   {.features = features,
                    .hidden = model.hidden_size,
                    .heads = model.heads,
                    .depth = model.depth},
                   layout);
}

Tensor<2> candidate_places(GlimpseKind kind, const GlimpseConfig& glimpse, CanvasSize canvas) {
  if (kind.family != Family::grid) return zeros<2>(0, 2);
  return grid_places(glimpse.grid, canvas.rows, canvas.cols);
}

std::optional<Locator> make_locator(const AgentConfig& config, int candidates,
                                    const std::optional<const GaussianFilters>& filters,
                                    ParameterLayout& layout) {
  const Family family = find_glimpse_kind(config.glimpse.kind).family;
  if (config.model.kind != "recurrent" || config.glimpse.addressing == "content" ||
      family == Family::whole)
    return {};
  const auto make = [&](const std::string& output, std::vector<float> bias) {
    return Locator(config.model.hidden_size, config.model.locator_hidden, output, std::move(bias),
                   layout);
  };
  switch (family) {
    case Family::grid:
      return make("logits", std::vector<float>(candidates, 0.0F));
    case Family::window:
      return make("window", {0.0F, 0.0F, filters->initial_log_variance(),
                             GaussianFilters::initial_log_delta(), 0.0F});
    default:
      return make("mean", {0.0F, 0.0F});
  }
}

AgentConfig settled(AgentConfig config) {
  settle(config.glimpse);
  return config;
}

std::optional<GaussianFilters> make_filters(GlimpseKind kind, const GlimpseConfig& glimpse,
                                            CanvasSize canvas) {
  if (kind.family != Family::window) return {};
  return GaussianFilters({canvas.rows, canvas.cols, canvas.channels, glimpse.filters});
}

std::unique_ptr<const Score> make_content_score(const AgentConfig& config,
                                                ParameterLayout& layout) {
  if (config.model.kind != "recurrent" || config.glimpse.addressing != "content") return nullptr;
  return make_score(config.glimpse.score, "locator.score", config.model.hidden_size,
                    config.model.feature_size, config.glimpse.score_hidden, layout);
}

std::optional<LinearHead> classifier_of(const Sight& sight, int inputs, ParameterLayout& layout) {
  if (sight.answer == AnswerKind::sequence) return {};
  return LinearHead("classifier", inputs, sight.num_classes, uniform_fan_in(inputs), layout);
}

std::optional<Decoder> decoder_of(const AgentConfig& config, const Sight& sight, int state_size,
                                  int steps, ParameterLayout& layout) {
  if (sight.answer != AnswerKind::sequence) return {};
  return std::optional<Decoder>(std::in_place, config.decoder, config.hidden, sight.num_classes,
                                state_size, steps, layout);
}

}  // namespace

std::vector<std::string> model_kinds() {
  std::vector<std::string> kinds = {"recurrent"};
  for (const std::string& kind : canvas_network_kinds()) kinds.push_back(kind);
  return kinds;
}

Model::Model(const AgentConfig& given, const Sight& sight) : Model(settled(given), sight, {}) {}

Model::Model(const AgentConfig& config, const Sight& sight, Settled)
    : config_(config),
      kind_(look_kind(config)),
      sight_(sight),
      places(candidate_places(kind_, config.glimpse, sight.canvas)),
      canvas_network(canvas_network_of(config.model, sight.canvas, layout_)),
      filters(make_filters(kind_, config.glimpse, sight.canvas)),
      glimpse_network(glimpse_network_of(kind_, config.model, glimpse_size(), layout_)),
      gate(gate_of(config, feature_size(), layout_)),
      core(core_of(config.model, feature_size(), layout_)),
      locator(make_locator(config, num_candidates(), filters, layout_)),
      score(make_content_score(config, layout_)),
      hidden(sight.answer == AnswerKind::one_class
                 ? make_hidden_attention(config.hidden, "hidden", state_size(), num_glimpses(),
                                         layout_)
                 : nullptr),
      classifier(classifier_of(sight, hidden ? hidden->output_size() : state_size(), layout_)),
      decoder(decoder_of(config, sight, state_size(), num_glimpses(), layout_)),
      baseline(sight.answer == AnswerKind::actions ||
                       (!learns_by(Learning::backpropagation) && !sees_canvas())
                   ? LinearHead("baseline", state_size(), 1, constant(0), layout_)
                   : std::optional<LinearHead>()),
      first_location(kind_.family == Family::point && !sees_canvas() &&
                             config.glimpse.first == "learned"
                         ? layout_.add("locator.first", 1, 2, constant(0))
                         : -1),
      log_std(config.glimpse.learn_std && !sees_canvas()
                  ? layout_.add("locator.log_std", 1, 1,
                                constant(std::log(static_cast<float>(config.glimpse.std.from))))
                  : -1) {}

int Model::num_glimpses() const {
  if (canvas_network != nullptr) return 1;
  if (kind_.family != Family::whole) return config_.glimpse.num_glimpses;
  return config_.glimpse.order == "rows" ? whole_size()[0] : 1;
}

std::array<int, 2> Model::whole_size() const {
  const auto [rows, cols] = config_.glimpse.size;
  return {rows > 0 ? rows : sight_.canvas.rows, cols > 0 ? cols : sight_.canvas.cols};
}

int Model::feature_size() const {
  if (kind_.family != Family::whole) return config_.model.feature_size;
  const auto [rows, cols] = whole_size();
  return sight_.canvas.channels * cols * (config_.glimpse.order == "rows" ? 1 : rows);
}

int Model::state_size() const {
  return canvas_network != nullptr ? config_.model.feature_size : config_.model.hidden_size;
}

int Model::first_action() const {
  if (!learns_by(Learning::reinforce)) return num_glimpses();
  return config_.glimpse.first == "learned" ? 0 : 1;
}

bool Model::looks_at_all_candidates() const {
  return has_grid() && (score != nullptr || learns_by(Learning::backpropagation));
}

bool Model::embeds_candidates() const {
  return score != nullptr || (looks_at_all_candidates() && config_.glimpse.expect == "features");
}

bool Model::sees_one_glimpse() const {
  return !embeds_candidates() || config_.glimpse.expect == "pixels";
}

void Model::first_mean(float* mean, std::span<const float> parameters) const {
  const ConstMatrix first = layout_.view(parameters, first_location);
  for (int axis = 0; axis < 2; ++axis) mean[axis] = std::tanh(first(0, axis));
}

float Model::location_std(double progress, std::span<const float> parameters) const {
  if (log_std >= 0) return std::exp(*layout_.view(parameters, log_std).data);
  return static_cast<float>(config_.glimpse.std.at(progress));
}

float Model::temperature(double progress) const {
  return static_cast<float>(config_.glimpse.temperature.at(progress));
}

std::array<float, 2> Model::patch_half_sides() const {
  const auto side = static_cast<float>(sight_.patch_size);
  return {side / static_cast<float>(sight_.canvas.cols),
          side / static_cast<float>(sight_.canvas.rows)};
}

// Of seeing and of choosing where.
Work Model::look_work() const {
  if (canvas_network != nullptr) return canvas_network->work();
  if (kind_.family == Family::whole) return {};  // the canvas as it is
  const int steps = num_glimpses(), candidates = num_candidates();
  const int features = config_.model.feature_size;
  const bool soft = learns_by(Learning::backpropagation);
  // A first glimpse at a fixed place has no decision, and a state of zero no gradient.
  const bool learned_first = config_.glimpse.first == "learned" && kind_.family != Family::point;
  const int placed = learns_by(Learning::none) ? 0 : learned_first ? steps : steps - 1;

  Work total = locator ? locator->work(soft) * placed : score->work(placed, candidates);
  if (embeds_candidates()) total = total + glimpse_network->work_in_place() * candidates;
  if (sees_one_glimpse()) total = total + glimpse_network->work(soft) * steps;
  if (has_grid() && soft) {  // the expectation: forward, and two ways back
    const bool pixels = config_.glimpse.expect == "pixels";
    const int width = pixels ? glimpse_size() : features;
    total = total + linear_work(candidates, width, !pixels) * steps;
  }
  if (kind_.family == Family::window) total = total + filters->work(steps);
  return total;
}

// Of saying what there is.
Work Model::answer_work() const {
  const int steps = num_glimpses();
  if (decoder) return decoder->work(sight_.max_symbols);
  if (!hidden) return linear_work(state_size(), num_classes(), true) * steps;
  const int classified = config_.training.step_loss > 0.0 ? steps : 1;
  return hidden->work(steps, classified) +
         linear_work(hidden->output_size(), num_classes(), true) * classified;
}

Work Model::work() const {
  const int steps = num_glimpses();
  const int judged = steps - std::max(first_decision(), 1);  // the first has no state to read
  const bool has_baseline = config_.reinforce.advantage == "learned" && first_decision() < steps;
  Work total = look_work() + core->work(steps) + answer_work() +
               linear_work(state_size(), 1, false) * (has_baseline ? judged : 0);
  if (gate) total = total + gate->work(steps);
  return total;
}

double Model::gflop_per_episode() const {
  const Work total = work();
  return 2e-9 * static_cast<double>(total.forward + total.backward);
}

}  // namespace saccade
