#include <algorithm>
#include <cmath>
#include <vector>

#include "agent/looking/look_base.h"
#include "attention/gaussian_filters.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// One window of Gaussian filters a step (Gregor et al. 2015). The location input of the glimpse
// network is the window's centre, which may lie outside the canvas.
class WindowLook final : public LookBase {
 public:
  WindowLook(const Model& model, Environment& environment, CoreMemory& core)
      : LookBase(model, environment, core, GaussianFilters::kWindow, true),
        filters_(*model.filters),
        memory_(filters_.make_memory(steps(), episodes())),
        canvases_(zeros<2>(episodes(), model.canvas().pixels())),
        hidden_(zeros<3>(steps(), episodes(), model.locator->hidden_size())),
        dhidden_(zeros<3>(steps(), episodes(), model.locator->hidden_size())),
        dwindows_(zeros<3>(steps(), episodes(), GaussianFilters::kWindow)),
        dglimpse_(zeros<2>(episodes(), model.glimpse_size())),
        dlocation_(zeros<2>(episodes(), 2)),
        policy_samples_(zeros<2>(episodes(), 2)) {
    const int side = model.config().glimpse.filters;
    gaze_places_ = zeros<2>(side * side, 2);
    gaze_weights_.assign(side * side, 1.0F / static_cast<float>(side * side));
  }

  void begin(std::span<const float>) override { environment_.view(matrix(canvases_)); }

  void decide(const Turn& turn) override {
    const Matrix window = step(decisions, turn.t);
    model_.locator->forward(window, step(hidden_, turn.t), core_.state(turn.t), turn.parameters);
    copy_rows(step(actions, turn.t), window);
    if (turn.request.policy == nullptr) return;
    // Another policy moves the window and leaves its size.
    turn.request.policy(matrix(policy_samples_), {.t = turn.t,
                                                  .num_glimpses = steps(),
                                                  .mean = matrix(policy_samples_),
                                                  .target = turn.targets,
                                                  .streams = turn.streams});
    copy_rows(step(actions, turn.t).columns(0, 2), matrix(policy_samples_));
  }

  void read(int t, std::span<const float> parameters) override {
    const ConstMatrix window = step(actions, t);
    copy_rows(step(locations, t), window.columns(0, 2));
    filters_.forward(step(glimpses, t), memory_, t, matrix(canvases_), window);
    feature_forward(t, parameters);
  }

  LookLoss loss_backward(std::span<float>, const Credit&, std::span<const float>) override {
    return {};
  }

  bool differentiable() const override { return true; }

  void step_backward(int t, Matrix dfeature, std::span<const float> parameters) override {
    activation_backward(dfeature, t, 1, parameters);
    model_.glimpse_network->input_backward(matrix(dglimpse_), matrix(dlocation_), step(djoint_, t),
                                           parameters);
    const Matrix dwindow = step(dwindows_, t);
    for (int b = 0; b < episodes(); ++b) std::fill_n(dwindow.row(b), dwindow.cols, 0.0F);
    copy_rows(dwindow.columns(0, 2), matrix(dlocation_));
    filters_.backward(dwindow, memory_, t, matrix(dglimpse_), matrix(canvases_), step(actions, t));
    model_.locator->activation_backward(step(dhidden_, t), dwindow, step(hidden_, t), parameters);
    if (t > 0)
      model_.locator->state_backward(step(core_.dstate, t - 1), step(dhidden_, t), parameters);
  }

  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float>) override {
    model_.locator->weight_backward(gradient, matrix(dhidden_), matrix(dwindows_), matrix(hidden_),
                                    core_.all_states());
    weight_backward(gradient, dfeatures, 0.0F);
  }

  void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix,
                      std::span<const float> parameters) override {
    glimpse_backward(dglimpses, parameters);
    for (int t = 0; t < steps(); ++t)
      filters_.canvas_backward(dcanvases, memory_, t, step(dglimpses, t), step(actions, t));
  }

  // That of a uniform distribution over the window, in location units as for the Gaussian policy.
  float entropy(int t, int b, const RolloutRequest&) const override {
    const auto [x, y, half_width, half_height] = filters_.extent(&actions(t, b, 0));
    return std::log(4.0F * half_width * half_height);
  }

  // Every filter is a place of its own, and all are seen at once.
  Gaze gaze(int t, int b) override {
    const auto [x, y, half_width, half_height] = filters_.extent(&actions(t, b, 0));
    const int side = model_.config().glimpse.filters;
    const auto n = static_cast<float>(side);
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j) {
        const auto offset = [n](int k) { return (2.0F * static_cast<float>(k) + 1.0F) / n - 1.0F; };
        gaze_places_(i * side + j, 0) = x + half_width * offset(j);
        gaze_places_(i * side + j, 1) = y + half_height * offset(i);
      }
    return {matrix(gaze_places_), gaze_weights_, half_width / n, half_height / n, n * n};
  }

  void picture(int t, int b, float* glimpse) const override {
    std::copy_n(&glimpses(t, b, 0), model_.glimpse_size(), glimpse);
  }

 private:
  const GaussianFilters& filters_;
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

}  // namespace

std::unique_ptr<Look> make_window_look(const Model& model, Environment& environment,
                                       CoreMemory& core) {
  return std::make_unique<WindowLook>(model, environment, core);
}

}  // namespace saccade
