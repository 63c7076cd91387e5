#include "agent/looking/look.h"

#include "agent/looking/look_base.h"

namespace saccade {

std::unique_ptr<Look> make_look(const Model& model, Environment& environment, CoreMemory& core) {
  if (model.canvas_network != nullptr) return make_canvas_look(model, environment, core);
  switch (model.glimpse_kind().family) {
    case GlimpseKind::Family::whole:
      return make_whole_look(model, environment, core);
    case GlimpseKind::Family::grid:
      return make_grid_look(model, environment, core);
    case GlimpseKind::Family::window:
      return make_window_look(model, environment, core);
    default:
      return make_point_look(model, environment, core);
  }
}

LookBase::LookBase(const Model& model, Environment& environment, CoreMemory& core, int action_size,
                   bool seen)
    : model_(model), environment_(environment), core_(core) {
  const int joint = seen ? model.glimpse_network->joint_size() : 0;
  decisions = zeros<3>(core.steps, episodes(), action_size);
  actions = zeros<3>(core.steps, episodes(), action_size);
  locations = zeros<3>(core.steps, episodes(), 2);
  glimpses = zeros<3>(core.steps, episodes(), seen ? model.glimpse_size() : 0);
  joint_ = zeros<3>(core.steps, episodes(), joint);
  djoint_ = zeros<3>(core.steps, episodes(), joint);
}

void LookBase::feature_forward(int t, std::span<const float> parameters) {
  model_.glimpse_network->forward(core_.glimpse_feature(t), step(joint_, t), step(glimpses, t),
                                  step(locations, t), parameters);
}

void LookBase::activation_backward(Matrix dfeatures, int first, int count,
                                   std::span<const float> parameters) {
  model_.glimpse_network->activation_backward(
      core_.steps_of(djoint_, first, count), dfeatures,
      core_.all_glimpse_features().row_range(first * episodes(), count * episodes()),
      core_.steps_of(joint_, first, count), parameters);
}

void LookBase::weight_backward(std::span<float> gradient, Matrix dfeatures, float beta) {
  model_.glimpse_network->weight_backward(gradient, matrix(djoint_), dfeatures, matrix(joint_),
                                          matrix(glimpses), matrix(locations), beta);
}

void LookBase::glimpse_backward(Tensor<3>& dglimpses, std::span<const float> parameters) {
  const int what = model_.config().model.glimpse_hidden;
  model_.glimpse_network->glimpse_backward(matrix(dglimpses), matrix(djoint_).columns(0, what),
                                           parameters);
}

void LookBase::retina_backward(Matrix dcanvases, Tensor<3>& dglimpses,
                               std::span<const float> parameters) {
  glimpse_backward(dglimpses, parameters);
  const auto pixels = static_cast<std::size_t>(dcanvases.cols);
  const auto size = static_cast<std::size_t>(model_.glimpse_size());
  for (int t = 0; t < steps(); ++t)
    for (int b = 0; b < episodes(); ++b)
      environment_.look_backward({dcanvases.row(b), pixels}, locations(t, b, 0), locations(t, b, 1),
                                 {&dglimpses(t, b, 0), size});
}

}  // namespace saccade
