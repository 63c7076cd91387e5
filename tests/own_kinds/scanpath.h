#pragma once

#include <cmath>

#include "agent/looking/look_base.h"
#include "agent/looking/looking_parts.h"
#include "agent/looking/smooth_look.h"
#include "nn/layers.h"

// A way of looking that a program registers: a path of places, the same in every scene, that is
// learned by backpropagation.
namespace saccade {

struct Scanpath {
  GlimpseParts glimpse;
  float reach;  // of its places from the middle, in half canvases
  int path;     // the parameter (T, 2)
  std::array<float, 2> half_sides;
};

class ScanpathLook final : public LookBase {
 public:
  ScanpathLook(const Scanpath& scanpath, const ParameterLayout& layout, Environment& environment,
               CoreMemory& core)
      : LookBase(2, scanpath.glimpse.shape.size, environment, core),
        scanpath_(scanpath),
        layout_(layout),
        pass_(scanpath.glimpse, *this, core),
        smooth_(steps(), episodes(), 2, glimpse_size()),
        dplaces_(zeros<3>(steps(), episodes(), 2)),
        dglimpse_(zeros<2>(episodes(), glimpse_size())) {}

  void begin(std::span<const float>) override {}

  void decide(const StepContext& now) override {
    const ConstMatrix path = layout_.view(now.parameters, scanpath_.path);
    for (int b = 0; b < episodes(); ++b)
      for (int axis = 0; axis < 2; ++axis)
        decisions(now.t, b, axis) = scanpath_.reach * std::tanh(path(now.t, axis));
    copy_rows(step(actions, now.t), step(decisions, now.t));
    if (now.request.policy == nullptr) return;
    now.request.policy(step(actions, now.t), {.t = now.t,
                                              .num_glimpses = steps(),
                                              .mean = step(decisions, now.t),
                                              .target = now.targets,
                                              .streams = now.streams});
    clamp_to_canvas(step(actions, now.t), step(actions, now.t));
  }

  void place(int t, ConstMatrix places) override {
    copy_rows(step(actions, t), places);
    locate(t);
  }

  void locate(int t) override { copy_rows(step(locations, t), step(actions, t)); }

  void read(int t, std::span<const float> parameters) override {
    smooth_.forward(environment_, t, step(locations, t), step(glimpses, t));
    pass_.forward(t, parameters);
  }

  void step_backward(int t, Matrix dfeature, std::span<const float> parameters) override {
    pass_.activation_backward(dfeature, t, 1, parameters);
    pass_.input_backward(matrix(dglimpse_), step(dplaces_, t), t, parameters);
    smooth_.backward(step(dplaces_, t), t, matrix(dglimpse_));
  }

  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float>) override {
    const Matrix dpath = layout_.view(gradient, scanpath_.path);
    for (int t = 0; t < steps(); ++t)
      for (int axis = 0; axis < 2; ++axis) {
        const float slope = decisions(t, 0, axis) / scanpath_.reach;
        float sum = 0.0F;
        for (int b = 0; b < episodes(); ++b) sum += dplaces_(t, b, axis);
        dpath(t, axis) = sum * scanpath_.reach * (1.0F - slope * slope);
      }
    pass_.weight_backward(gradient, dfeatures);
  }

  void input_backward(Matrix dcanvases, Tensor<3>& dglimpses, ConstMatrix,
                      std::span<const float> parameters) override {
    pass_.glimpse_backward(dglimpses, parameters);
    SmoothLook::canvas_backward(dcanvases, environment_, locations, dglimpses);
  }

  Gaze gaze(int t, int b) override {
    static constexpr float kOne = 1.0F;
    return {.places = {&locations(t, b, 0), 1, 2, 2},
            .weights = {&kOne, 1},
            .half_width = scanpath_.half_sides[0],
            .half_height = scanpath_.half_sides[1]};
  }
  void picture(int t, int b, float* glimpse) const override {
    std::copy_n(&glimpses(t, b, 0), glimpse_size(), glimpse);
  }

 private:
  const Scanpath& scanpath_;
  const ParameterLayout& layout_;
  GlimpsePass pass_;
  SmoothLook smooth_;
  Tensor<3> dplaces_;   // (T, B, 2)
  Tensor<2> dglimpse_;  // (B, D)
};

class ScanpathLooking final : public Looking {
 public:
  ScanpathLooking(const AgentConfig& config, const ObservationSpec& spec, ParameterLayout& layout)
      : Looking(config.glimpse),
        layout_(layout),
        scanpath_{.glimpse = make_glimpse_parts(config.model, retina_shape(spec), layout),
                  .reach = static_cast<float>(
                      config_.own.get<double>("attention.glimpse.scanpath.reach")),
                  .path = layout.add("locator.path", config_.num_glimpses, 2, normal(0.5F)),
                  .half_sides = half_sides(spec)} {
    traits_ = retina_traits(config, spec);
    traits_.differentiable = traits_.smooth = true;
    traits_.samples = false;
    traits_.first_action = traits_.steps;
    traits_.canvas_pixels = traits_.steps * spec.widest_patch * spec.widest_patch;
  }

  std::unique_ptr<Look> make_look(Environment& environment, CoreMemory& core) const override {
    return std::make_unique<ScanpathLook>(scanpath_, layout_, environment, core);
  }

  Work work() const override {
    const Work slopes{.backward = 2 * scanpath_.glimpse.shape.size};
    return (scanpath_.glimpse.work(Input::differentiated) + slopes) * traits_.steps;
  }

 private:
  const ParameterLayout& layout_;
  Scanpath scanpath_;
};

inline const GlimpseKind kScanpath = {.learning = GlimpseKind::Learning::backpropagation,
                                      .takes_glimpses = true,
                                      .sees_motion = true,
                                      .make = make<ScanpathLooking>};

}  // namespace saccade
