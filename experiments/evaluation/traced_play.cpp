#include "experiments/evaluation/traced_play.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "base/stop.h"

namespace saccade {
namespace {

constexpr int kMostTogether = 32;  // scenes in a part

Tensor<1> copied(std::span<const float> numbers) {
  Tensor<1> copy = zeros<1>(numbers.size());
  std::ranges::copy(numbers, copy.data());
  return copy;
}

}  // namespace

TracedPlay::TracedPlay(const Model& model, std::span<const float> parameters,
                       const EnvironmentFactory& environments, const TracedPlayRequest& request,
                       Workers& workers)
    : model_(model),
      workers_(workers),
      scenes_(request.scenes),
      together_(std::min(kMostTogether, request.scenes)),
      parameters_(copied(parameters)),
      parts_((request.scenes + together_ - 1) / together_) {
  for (std::unique_ptr<Jacobian>& part : parts_)
    part = std::make_unique<Jacobian>(model, environments(together_, 1));
  workers.for_each(static_cast<int>(parts_.size()), [&](int part) {
    stop_if_asked();
    RolloutRequest played = RolloutRequest::of_scenes(part * together_, request.seed, request.pass);
    played.sampling = request.sampling;
    parts_[part]->run(flat(parameters_), played);
  });
}

int TracedPlay::outputs() const { return model_.answer().outputs; }
int TracedPlay::classes() const {
  return static_cast<int>(parts_.front()->rollout.answer->probabilities.shape()[2]);
}

void TracedPlay::logits(std::span<float> to) const {
  SACCADE_CHECK(to.size() == static_cast<std::size_t>(scenes_) * outputs() * classes());
  for (int n = 0; n < scenes_; ++n)
    for (int s = 0; s < outputs(); ++s) {
      const Answer& answer = *parts_[n / together_]->rollout.answer;
      std::copy_n(answer.logits(s).row(n % together_), classes(),
                  &to[(static_cast<std::size_t>(n) * outputs() + s) * classes()]);
    }
}

void TracedPlay::backward(std::span<float> gradient, std::span<float> dcanvases,
                          std::span<const float> dlogits) {
  const std::size_t pixels = model_.canvas().pixels();
  SACCADE_CHECK(gradient.size() == static_cast<std::size_t>(model_.layout().size()));
  SACCADE_CHECK(dlogits.size() == static_cast<std::size_t>(scenes_) * outputs() * classes());
  SACCADE_CHECK(dcanvases.size() == scenes_ * pixels);
  workers_.for_each(static_cast<int>(parts_.size()), [&](int part) {
    stop_if_asked();
    Jacobian& jacobian = *parts_[part];
    const int first = part * together_, count = std::min(together_, scenes_ - first);
    Tensor<3> mine = zeros<3>(outputs(), together_, classes());  // 0 beyond the last scene
    for (int b = 0; b < count; ++b)
      for (int s = 0; s < outputs(); ++s)
        std::copy_n(&dlogits[(static_cast<std::size_t>(first + b) * outputs() + s) * classes()],
                    classes(), &mine(s, b, 0));
    jacobian.backward(flat(parameters_), matrix(mine));
    for (int b = 0; b < count && pixels > 0; ++b)
      std::copy_n(&jacobian.dcanvases(b, 0), pixels, &dcanvases[(first + b) * pixels]);
  });
  std::ranges::fill(gradient, 0.0F);
  for (const std::unique_ptr<Jacobian>& part : parts_)
    std::ranges::transform(gradient, part->gradient(), gradient.begin(), std::plus());
}

}  // namespace saccade
