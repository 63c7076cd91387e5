#include "agent/looking/look_base.h"

#include <stdexcept>

namespace saccade {

void Look::place(int, ConstMatrix) { throw std::logic_error("only points look at given places"); }

LookBase::LookBase(int num_actions, int glimpse_size, Environment& environment, CoreMemory& core)
    : environment_(environment), core_(core) {
  decisions = zeros<3>(core.steps, episodes(), num_actions);
  actions = zeros<3>(core.steps, episodes(), num_actions);
  locations = zeros<3>(core.steps, episodes(), 2);
  glimpses = zeros<3>(core.steps, episodes(), glimpse_size);
}

GlimpsePass::GlimpsePass(const GlimpseParts& parts, Look& look, CoreMemory& core)
    : network_(parts.network),
      input_(parts, core.steps * core.episodes(), core.steps * core.episodes()),
      look_(look),
      core_(core),
      joint_(zeros<3>(core.steps, core.episodes(), parts.network.joint_size())),
      djoint_(joint_) {}

Matrix GlimpsePass::dwhat(int first, int count) {
  return core_.steps_of(djoint_, first, count).columns(0, network_.sizes().what);
}

void GlimpsePass::forward(int t, std::span<const float> parameters) {
  const ConstMatrix seen =
      input_.forward(step(look_.glimpses, t), t * core_.episodes(), parameters);
  network_.forward(core_.glimpse_feature(t), step(joint_, t), seen, step(look_.locations, t),
                   parameters);
}

void GlimpsePass::activation_backward(Matrix dfeatures, int first, int count,
                                      std::span<const float> parameters) {
  const int episodes = core_.episodes();
  network_.activation_backward(
      core_.steps_of(djoint_, first, count), dfeatures,
      core_.all_glimpse_features().row_range(first * episodes, count * episodes),
      core_.steps_of(joint_, first, count), parameters);
  input_.backward(dwhat(first, count), first * episodes, parameters);
}

void GlimpsePass::input_backward(Matrix dglimpse, Matrix dlocation, int t,
                                 std::span<const float> parameters) {
  input_.glimpse_backward(dglimpse, dwhat(t, 1), t * core_.episodes(), parameters);
  network_.location_backward(dlocation, step(djoint_, t), parameters);
}

void GlimpsePass::weight_backward(std::span<float> gradient, Matrix dfeatures, float beta) {
  const ConstMatrix glimpses = matrix(look_.glimpses);
  network_.weight_backward(gradient, matrix(djoint_), dfeatures, matrix(joint_),
                           input_.of(glimpses), matrix(look_.locations), beta);
  input_.weight_backward(gradient, glimpses, 0, beta);
}

void GlimpsePass::glimpse_backward(Tensor<3>& dglimpses, std::span<const float> parameters) {
  input_.glimpse_backward(matrix(dglimpses), dwhat(0, core_.steps), 0, parameters);
}

void GlimpsePass::retina_backward(Matrix dcanvases, Tensor<3>& dglimpses,
                                  const Environment& environment,
                                  std::span<const float> parameters) {
  glimpse_backward(dglimpses, parameters);
  const auto pixels = static_cast<std::size_t>(dcanvases.cols);
  const std::size_t size = dglimpses.shape()[2];
  for (int t = 0; t < core_.steps; ++t)
    for (int b = 0; b < core_.episodes(); ++b)
      environment.look_backward({dcanvases.row(b), pixels}, &look_.locations(t, b, 0),
                                {&dglimpses(t, b, 0), size});
}

}  // namespace saccade
