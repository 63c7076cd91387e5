#include "experiments/evaluation/stepped_play.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/stop.h"
#include "experiments/evaluation/evaluator.h"
#include "nn/layers.h"

namespace saccade {

SteppedPlay::Part::Part(const Model& model, std::unique_ptr<Environment> environment, int steps)
    : rollout(model, std::move(environment)),
      streams(steps, rollout.streams),
      places(zeros<2>(rollout.episodes(), model.look().location_size)) {}

SteppedPlay::SteppedPlay(const Model& model, std::span<const float> parameters,
                         const EnvironmentFactory& environments, const SteppedPlayRequest& request,
                         Workers& workers)
    : model_(model),
      workers_(workers),
      scenes_(request.scenes),
      parameters_(zeros<1>(parameters.size())),
      parts_((request.scenes + kScenesAtATime - 1) / kScenesAtATime) {
  std::ranges::copy(parameters, parameters_.data());
  workers.for_each(static_cast<int>(parts_.size()), [&](int i) {
    stop_if_asked();
    parts_[i] =
        std::make_unique<Part>(model, environments(kScenesAtATime, 1), model.num_glimpses());
    Part& part = *parts_[i];
    part.request = RolloutRequest::of_scenes(i * kScenesAtATime, request.seed);
    part.request.sampling = request.sampling;
    part.rollout.begin(flat(parameters_), part.request);
    decide(part);
  });
}

bool SteppedPlay::plays(std::span<const float> parameters) const {
  return std::memcmp(parameters.data(), parameters_.data(), parameters.size_bytes()) == 0;
}

void SteppedPlay::rewind(int looks) {
  SACCADE_CHECK(looks >= 0 && looks <= looks_);
  if (looks == looks_) return;
  looks_ = looks;
  workers_.for_each(static_cast<int>(parts_.size()), [&](int i) {
    parts_[i]->rollout.streams = parts_[i]->streams[looks];
    decide(*parts_[i]);
  });
}

void SteppedPlay::step(ConstMatrix places) {
  SACCADE_CHECK(looks_ < model_.num_glimpses());
  const int t = looks_++;
  workers_.for_each(static_cast<int>(parts_.size()), [&](int i) {
    Part& part = *parts_[i];
    if (places.data != nullptr) {
      const int first = i * kScenesAtATime, count = std::min(kScenesAtATime, scenes_ - first);
      copy_rows(matrix(part.places).row_range(0, count), places.row_range(first, count));
      part.rollout.look->place(t, matrix(part.places));
    }
    part.rollout.see(t, flat(parameters_));
    part.rollout.answer->answer_after(t, flat(parameters_));
    decide(part);
  });
}

// Decides about the next look, if there is one.
void SteppedPlay::decide(Part& part) {
  if (looks_ == model_.num_glimpses()) return;
  part.streams[looks_] = part.rollout.streams;
  part.rollout.decide(looks_, flat(parameters_), part.request);
}

template <class Write>
void SteppedPlay::each_scene(const Write& write) const {
  for (int n = 0; n < scenes_; ++n)
    write(*parts_[n / kScenesAtATime], n % kScenesAtATime, static_cast<std::size_t>(n));
}

int SteppedPlay::location_size() const { return model_.look().location_size; }

void SteppedPlay::locations(int t, std::span<float> to) const {
  const int width = location_size();
  SACCADE_CHECK(to.size() == static_cast<std::size_t>(scenes_) * width);
  each_scene([&](const Part& part, int b, std::size_t n) {
    std::copy_n(&part.rollout.look->locations(t, b, 0), width, &to[n * width]);
  });
}

int SteppedPlay::picture_size() const {
  const LookTraits& look = model_.look();
  return look.pictures * look.picture_side * look.picture_side * model_.canvas().channels;
}

void SteppedPlay::pictures(std::span<float> to) const {
  const int width = picture_size();
  SACCADE_CHECK(to.size() == static_cast<std::size_t>(scenes_) * width);
  each_scene([&](const Part& part, int b, std::size_t n) {
    part.rollout.look->picture(looks_ - 1, b, &to[n * width]);
  });
}

int SteppedPlay::outputs() const { return model_.answer().spells ? model_.answer().outputs : 1; }

int SteppedPlay::classes() const {
  return static_cast<int>(parts_.front()->rollout.answer->probabilities.shape()[2]);
}

void SteppedPlay::probabilities(std::span<float> to) const {
  const int count = outputs(), width = classes();
  const int first = model_.answer().spells ? 0 : looks_ - 1;
  SACCADE_CHECK(to.size() == static_cast<std::size_t>(scenes_) * count * width);
  each_scene([&](const Part& part, int b, std::size_t n) {
    for (int s = 0; s < count; ++s)
      std::copy_n(&part.rollout.answer->probabilities(first + s, b, 0), width,
                  &to[(n * count + s) * width]);
  });
}

}  // namespace saccade
