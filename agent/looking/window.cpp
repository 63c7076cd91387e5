#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "agent/looking/context_network.h"
#include "agent/looking/locator.h"
#include "agent/looking/look_base.h"
#include "agent/looking/looking_parts.h"
#include "attention/gaussian_filters.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// The parts that place and see a window.
struct WindowParts {
  GaussianFilters filters;
  int side;  // N: filters per axis
  GlimpseParts glimpse;
  Locator locator;
  std::optional<ContextNetwork> context;  // for the locator
};

// One window of Gaussian filters per step (Gregor et al. 2015). The location input of the glimpse
// network is the window's centre, which may lie outside the canvas.
class WindowLook final : public LookBase {
 public:
  WindowLook(const WindowParts& parts, int canvas_pixels, Environment& environment,
             CoreMemory& core)
      : LookBase(GaussianFilters::kWindow, parts.glimpse.shape.size, environment, core),
        parts_(parts),
        pass_(parts.glimpse, *this, core),
        context_(parts.context, environment),
        memory_(parts.filters.make_memory(steps(), episodes())),
        canvases_(zeros<2>(episodes(), canvas_pixels)),
        hidden_(zeros<3>(steps(), episodes(), parts.locator.hidden_size())),
        dhidden_(hidden_),
        dwindows_(zeros<3>(steps(), episodes(), GaussianFilters::kWindow)),
        dglimpse_(zeros<2>(episodes(), glimpse_size())),
        dlocation_(zeros<2>(episodes(), 2)),
        policy_samples_(zeros<2>(episodes(), 2)),
        gaze_places_(zeros<2>(parts.side * parts.side, 2)),
        gaze_weights_(parts.side * parts.side, 1.0F / static_cast<float>(parts.side * parts.side)) {
  }

  void begin(std::span<const float> parameters) override {
    environment_.view(matrix(canvases_));
    context_.forward(parameters);
  }

  void decide(const StepContext& now) override {
    const Matrix window = step(decisions, now.t);
    parts_.locator.forward(window, step(hidden_, now.t), core_.state(now.t), now.parameters,
                           context_.added());
    copy_rows(step(actions, now.t), window);
    if (now.request.policy == nullptr) return;
    // Another policy moves the window but keeps its size.
    now.request.policy(matrix(policy_samples_), {.t = now.t,
                                                 .num_glimpses = steps(),
                                                 .mean = matrix(policy_samples_),
                                                 .target = now.targets,
                                                 .streams = now.streams});
    const auto scale = parts_.filters.location_per_centre();
    for (int b = 0; b < episodes(); ++b)
      for (int axis = 0; axis < 2; ++axis)
        actions(now.t, b, axis) = policy_samples_(b, axis) / scale[axis];
  }

  void locate(int t) override {
    const ConstMatrix window = step(actions, t);
    const auto scale = parts_.filters.location_per_centre();
    for (int b = 0; b < episodes(); ++b)
      for (int axis = 0; axis < 2; ++axis) locations(t, b, axis) = scale[axis] * window(b, axis);
  }

  void read(int t, std::span<const float> parameters) override {
    parts_.filters.forward(step(glimpses, t), memory_, t, matrix(canvases_), step(actions, t));
    pass_.forward(t, parameters);
  }

  void step_backward(int t, Matrix dfeature, std::span<const float> parameters) override {
    pass_.activation_backward(dfeature, t, 1, parameters);
    pass_.input_backward(matrix(dglimpse_), matrix(dlocation_), t, parameters);
    const Matrix dwindow = step(dwindows_, t);
    const auto scale = parts_.filters.location_per_centre();
    for (int b = 0; b < episodes(); ++b) {
      std::fill_n(dwindow.row(b), dwindow.cols, 0.0F);
      for (int axis = 0; axis < 2; ++axis) dwindow(b, axis) = scale[axis] * dlocation_(b, axis);
    }
    parts_.filters.backward(dwindow, memory_, t, matrix(dglimpse_), matrix(canvases_),
                            step(actions, t));
    parts_.locator.activation_backward(step(dhidden_, t), dwindow, step(hidden_, t), parameters);
    if (t > 0 && !detached)
      parts_.locator.state_backward(step(core_.dstate, t - 1), step(dhidden_, t), parameters);
  }

  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float> parameters) override {
    parts_.locator.weight_backward(gradient, matrix(dhidden_), matrix(dwindows_), matrix(hidden_),
                                   core_.all_states());
    Locator::context_backward(context_.dadded(), matrix(dhidden_));
    context_.backward(gradient, parameters);
    pass_.weight_backward(gradient, dfeatures);
  }

  void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix,
                      std::span<const float> parameters) override {
    pass_.glimpse_backward(dglimpses, parameters);
    for (int t = 0; t < steps(); ++t)
      parts_.filters.canvas_backward(dcanvases, memory_, t, step(dglimpses, t), step(actions, t));
    context_.input_backward(dcanvases, parameters);
  }

  // Entropy of a uniform distribution over the window, in location units as for the Gaussian
  // policy.
  float entropy(int t, int b) const override {
    const auto [x, y, half_width, half_height] = parts_.filters.extent(&actions(t, b, 0));
    return std::log(4.0F * half_width * half_height);
  }

  // Every filter is a place of its own, and all are seen at once.
  Gaze gaze(int t, int b) override {
    const auto [x, y, half_width, half_height] = parts_.filters.extent(&actions(t, b, 0));
    const int side = parts_.side;
    const auto n = static_cast<float>(side);
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j) {
        const auto offset = [n](int k) { return (2.0F * static_cast<float>(k) + 1.0F) / n - 1.0F; };
        gaze_places_(i * side + j, 0) = x + half_width * offset(j);
        gaze_places_(i * side + j, 1) = y + half_height * offset(i);
      }
    return {.places = matrix(gaze_places_),
            .weights = gaze_weights_,
            .half_width = half_width / n,
            .half_height = half_height / n,
            .exposure = n * n};
  }

  void picture(int t, int b, float* glimpse) const override {
    std::copy_n(&glimpses(t, b, 0), glimpse_size(), glimpse);
  }

 private:
  const WindowParts& parts_;
  GlimpsePass pass_;
  ContextPass context_;
  FilterMemory memory_;
  Tensor<2> canvases_;          // (B, channels rows cols)
  Tensor<3> hidden_, dhidden_;  // (T, B, width): of the locator
  Tensor<3> dwindows_;          // (T, B, 5)
  Tensor<2> dglimpse_;          // (B, D)
  Tensor<2> dlocation_;         // (B, 2)
  Tensor<2> policy_samples_;    // (B, 2)
  Tensor<2> gaze_places_;       // (N N, 2)
  std::vector<float> gaze_weights_;
};

class WindowLooking final : public Looking {
 public:
  WindowLooking(const AgentConfig& config, const ObservationSpec& spec, ParameterLayout& layout)
      : Looking(config.glimpse),
        canvas_pixels_(spec.canvas.pixels()),
        parts_(make_parts(config, spec, layout)) {
    const int steps = config_.num_glimpses;
    traits_ = {.steps = steps,
               .feature_size = config.model.feature_size,
               .differentiable = true,
               .samples = false,
               .first_action = steps,
               .frame = true,
               .pictures = 1,
               .picture_side = parts_.side,
               .weights = {{"locations", 2, &Look::locations},
                           {"windows", GaussianFilters::kWindow, &Look::actions}},
               .canvas_pixels = static_cast<double>(steps + (parts_.context ? 1 : 0)) *
                                spec.canvas.rows * spec.canvas.cols};
  }

  std::unique_ptr<Look> make_look(Environment& environment, CoreMemory& core) const override {
    return std::make_unique<WindowLook>(parts_, canvas_pixels_, environment, core);
  }

  Work work() const override {
    const int steps = traits_.steps;
    return parts_.locator.work(config_.detach_state ? Input::constant : Input::differentiated) *
               steps +
           parts_.glimpse.work(Input::differentiated) * steps + parts_.filters.work(steps) +
           (parts_.context ? parts_.context->work() : Work());
  }

 private:
  static WindowParts make_parts(const AgentConfig& config, const ObservationSpec& spec,
                                ParameterLayout& layout) {
    const CanvasSize& canvas = spec.canvas;
    const GaussianFilters filters(
        {canvas.rows, canvas.cols, canvas.channels, config.glimpse.filters});
    return {
        .filters = filters,
        .side = config.glimpse.filters,
        .glimpse = make_glimpse_parts(
            config.model,
            {filters.glimpse_size(), canvas.channels, config.glimpse.filters, spec.pixels}, layout),
        .locator = Locator(config.model.hidden_size, config.model.locator_hidden, "window",
                           {0.0F, 0.0F, filters.initial_log_variance(),
                            GaussianFilters::initial_log_delta(), 0.0F},
                           layout),
        .context = make_context_network(config.model, spec, layout)};
  }

  int canvas_pixels_;
  WindowParts parts_;
};

// The first window is always the one that its initial parameters give.
void settle_window(GlimpseConfig& config) { config.first = "learned"; }

}  // namespace

GlimpseKind window_looking() {
  return {.learning = GlimpseKind::Learning::backpropagation,
          .can_have_context = true,
          .has_filters = true,
          .takes_glimpses = true,
          .make = make<WindowLooking>,
          .settle = settle_window};
}

}  // namespace saccade
