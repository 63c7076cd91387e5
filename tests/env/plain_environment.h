#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "env/vector_environment.h"
#include "nn/random.h"

namespace saccade {

/// A single environment, simply written: an Environment of one episode, started and answered as a
/// whole.
class PlainEnvironment {
 public:
  PlainEnvironment(const EnvironmentFactory& factory, const EpisodeRules& rules, std::uint64_t seed)
      : environment_(factory(1, 1)), rules_(rules), seed_(seed) {
    begin();
  }

  void begin() {
    const std::uint64_t scene = (seed_ << 32) + number_++;
    environment_->reset(scene);
    steps_ = 0;
    over_ = false;
    RandomStream stream(0, Purpose::first_location, static_cast<std::uint32_t>(scene >> 32),
                        static_cast<std::uint32_t>(scene));
    const bool random = rules_.first == FirstLook::random;
    const float x = random ? stream.uniform(-1.0F, 1.0F) : 0.0F;
    const float y = random ? stream.uniform(-1.0F, 1.0F) : 0.0F;
    look(x, y);
  }

  void step(float x, float y, const std::vector<int>& answer, bool halt) {
    int length = rules_.num_glimpses;
    if (const int digits = environment_->facts()[0].length; digits > 0)
      length = std::min(length, digits);
    ++steps_;
    if (environment_->has_cue()) environment_->end_cue();
    over_ = steps_ == length || (rules_.halt && halt);
    reward_ = over_ ? 0.0 : -rules_.look_price;
    if (environment_->answer_kind() == AnswerKind::actions) {
      float paid = 0.0F;
      environment_->act(answer, {&paid, 1});
      reward_ += paid;
    }
    look(x, y);
    if (!over_ || environment_->answer_kind() == AnswerKind::actions) return;
    float paid = 0.0F;
    if (environment_->answer_kind() == AnswerKind::sequence)
      environment_->answer_sequence(answer, {&paid, 1});
    else
      environment_->answer(answer, {&paid, 1});
    reward_ += paid;
  }

  bool over() const { return over_; }
  double reward() const { return reward_; }

  // In the format of VectorArrays::row.
  std::vector<double> row() const {
    const SceneFacts& facts = environment_->facts()[0];
    std::vector<double> all(glimpse_.begin(), glimpse_.end());
    all.insert(all.end(), {x_, y_, static_cast<double>(steps_)});
    const int symbols = environment_->max_symbols();
    for (int a = 0; a < symbols; ++a) all.push_back(a < facts.num_symbols ? facts.symbols[a] : -1);
    const bool acts = environment_->answer_kind() == AnswerKind::actions;
    if (symbols == 0) all.push_back(acts ? -1 : facts.label);
    bool on_target = false;
    for (int k = 0; k < rules_.num_boxes; ++k) {
      const Box& box = facts.boxes[k];
      for (const int number : {box.x, box.y, box.width, box.height}) all.push_back(number);
      on_target |= k < facts.num_digits && facts.regions[k].contains(x_, y_);
    }
    all.push_back(on_target);
    return all;
  }

 private:
  void look(float x, float y) {
    x_ = x;
    y_ = y;
    const std::array<float, 2> location = {x, y};
    glimpse_.resize(environment_->glimpse_size());
    const int size = environment_->glimpse_size();
    environment_->look({location.data(), 1, 2, 2}, {glimpse_.data(), 1, size, size});
  }

  std::unique_ptr<Environment> environment_;
  EpisodeRules rules_;
  std::uint64_t seed_, number_ = 0;
  int steps_ = 0;
  bool over_ = false;
  double reward_ = 0.0;
  float x_ = 0.0F, y_ = 0.0F;
  std::vector<float> glimpse_;
};

}  // namespace saccade
