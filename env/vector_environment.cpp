#include "env/vector_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "nn/random.h"

namespace saccade {
namespace {

constexpr int kMaxCount = 1'000'000;
constexpr int kMaxGlimpses = 1000;

const EpisodeRules& checked(const EpisodeRules& rules, int count) {
  if (count < 1 || count > kMaxCount)
    throw InputError(fmt::format("num_envs: {}; allowed: 1 to {}", count, kMaxCount));
  if (rules.num_glimpses < 1 || rules.num_glimpses > kMaxGlimpses)
    throw InputError(
        fmt::format("num_glimpses: {}; allowed: 1 to {}", rules.num_glimpses, kMaxGlimpses));
  if (rules.num_boxes < 1 || rules.num_boxes > kMaxDigits)
    throw InputError(fmt::format("num_boxes: {}; allowed: 1 to {}", rules.num_boxes, kMaxDigits));
  if (!std::isfinite(rules.look_price))
    throw InputError(fmt::format("look_price: {}; allowed: a number", rules.look_price));
  return rules;
}

bool inside_a_digit(const SceneFacts& facts, float x, float y) {
  return std::any_of(facts.regions.begin(), facts.regions.begin() + facts.num_digits,
                     [&](const Region& region) { return region.contains(x, y); });
}

}  // namespace

VectorEnvironment::VectorEnvironment(const EnvironmentFactory& environments, int count,
                                     const EpisodeRules& rules, int threads)
    : rules_(checked(rules, count)), count_(count), episodes_(count) {
  for (int i = 0; i < count; i += kLane) {
    const int size = std::min(kLane, count - i);
    lanes_.push_back({.first = i,
                      .count = size,
                      .environments = {},
                      .actions = std::vector<int>(size),
                      .rewards = std::vector<float>(size),
                      .all_rewards = std::vector<float>(size)});
    lanes_.back().environments.push_back(environments(size, 1));
  }
  if (rules_.halt && acts())
    throw InputError("halt: true, but every action counts here; allowed: false");
  if (lanes_.size() > 1) workers_.emplace(threads);
  paths_ = zeros<3>(count, rules_.num_glimpses + 1, location_size());
  answers_.resize(static_cast<std::size_t>(count) * answer_size());
  if (acts()) acts_.resize(static_cast<std::size_t>(count) * rules_.num_glimpses);
  if (rules_.autoreset != Autoreset::same_step) return;
  memory_.glimpses = zeros<2>(count, glimpse_size());
  memory_.locations = zeros<2>(count, location_size());
  const auto rows = static_cast<std::size_t>(count);
  memory_.steps.resize(rows);
  memory_.labels.resize(rows * answer_size());
  memory_.boxes.resize(rows * rules_.num_boxes * 4);
  memory_.on_target.resize(rows);
  final_ = {matrix(memory_.glimpses),
            matrix(memory_.locations),
            memory_.steps,
            memory_.labels,
            memory_.boxes,
            memory_.on_target};
}

void VectorEnvironment::reset(std::span<const std::int64_t> seeds,
                              std::span<const std::uint8_t> mask, const VectorObservation& seen) {
  SACCADE_CHECK(static_cast<int>(seeds.size()) == count_);
  SACCADE_CHECK(static_cast<int>(mask.size()) == count_);
  for (int i = 0; i < count_; ++i) {
    if (episodes_[i].seeded) continue;
    if (!mask[i])
      throw InputError(fmt::format(
          "reset_mask: environment {} is left out and was never reset; reset all of them first",
          i));
    if (seeds[i] < 0)
      throw InputError(fmt::format("seed: none for environment {}, which never had one", i));
  }
  for (int i = 0; i < count_; ++i)
    if (mask[i] && seeds[i] >= 0) {
      const auto seed = static_cast<std::uint64_t>(seeds[i]);
      episodes_[i] = {.seed = (seed ^ seed / kSeeds) % kSeeds, .seeded = true};
    }
  for_each_lane([&](Lane& lane) {
    for (const auto& environment : lane.environments)
      if (!running_) environment->reset(0);
    for (int i = lane.first; i < lane.first + lane.count; ++i) {
      if (mask[i]) begin_episode(lane, i);
      observe(lane, i, seen);
    }
  });
  running_ = true;
  drop_unused_scenes();
}

void VectorEnvironment::follow(const VectorEnvironment& others) {
  SACCADE_CHECK(!running_ && others.count_ == count_);
  for (int i = 0; i < count_; ++i) {
    const Episode& before = others.episodes_[i];
    episodes_[i] = {.seed = before.seed, .number = before.number, .seeded = before.seeded};
  }
}

void VectorEnvironment::change_scenes(const EnvironmentFactory& environments, int number) {
  std::vector<std::unique_ptr<Environment>> made;
  for (const Lane& lane : lanes_) {
    made.push_back(environments(lane.count, 1));
    const Environment& one = *made.back();
    SACCADE_CHECK(one.glimpse_size() == glimpse_size() && one.num_classes() == num_classes() &&
                  one.max_symbols() == first().max_symbols() &&
                  one.location_size() == location_size() && one.has_cue() == first().has_cue());
    if (running_) made.back()->reset(0);
  }
  for (std::size_t l = 0; l < lanes_.size(); ++l)
    lanes_[l].environments.push_back(std::move(made[l]));
  scenes_.push_back(number);
  if (running_) drop_unused_scenes();
}

void VectorEnvironment::drop_unused_scenes() {
  for (int s = static_cast<int>(scenes_.size()) - 2; s >= 0; --s) {
    const auto shows = [s](const Episode& episode) { return episode.scenes == s; };
    if (std::ranges::any_of(episodes_, shows)) continue;
    scenes_.erase(scenes_.begin() + s);
    for (Lane& lane : lanes_) lane.environments.erase(lane.environments.begin() + s);
    for (Episode& episode : episodes_)
      if (episode.scenes > s) --episode.scenes;
  }
}

void VectorEnvironment::check(const VectorActions& actions) const {
  if (!running_) throw std::logic_error("step() needs a reset() first");
  SACCADE_CHECK(actions.locations.rows == count_ && actions.locations.cols == location_size());
  SACCADE_CHECK(static_cast<int>(actions.answers.size()) == count_ * answer_size());
  SACCADE_CHECK(actions.halts.empty() || static_cast<int>(actions.halts.size()) == count_);
  const int size = answer_size(), classes = num_classes();
  for (int i = 0; i < count_; ++i) {
    if (rules_.autoreset == Autoreset::disabled && episodes_[i].ended)
      throw InputError(
          fmt::format("step() after the end of the episode of environment {}; "
                      "reset() begins another one",
                      i));
    for (int axis = 0; axis < location_size(); ++axis)
      if (!(std::abs(actions.locations(i, axis)) <= 1.0F))
        throw InputError(fmt::format("action 'location' of environment {}: {}; allowed: -1 to 1", i,
                                     actions.locations(i, axis)));
    for (const std::int64_t answer : actions.answers.subspan(i * size, size))
      if (answer < 0 || answer >= classes)
        throw InputError(fmt::format("action 'answer' of environment {}: {}; allowed: 0 to {}", i,
                                     answer, classes - 1));
  }
}

void VectorEnvironment::step(const VectorActions& actions, const VectorObservation& seen,
                             std::span<double> rewards, std::span<std::uint8_t> terminated) {
  check(actions);
  std::ranges::copy(actions.answers, answers_.begin());
  for_each_lane([&](Lane& lane) { step_lane(lane, actions, seen, rewards, terminated); });
  drop_unused_scenes();
}

// The episodes of a lane act together, each in its own scenes.
void VectorEnvironment::act(Lane& lane) {
  for (int s = 0; s < static_cast<int>(scenes_.size()); ++s) {
    lane.environments[s]->act(lane.actions, lane.all_rewards);
    for (int b = 0; b < lane.count; ++b)
      if (episodes_[lane.first + b].scenes == s) lane.rewards[b] = lane.all_rewards[b];
  }
}

void VectorEnvironment::step_lane(Lane& lane, const VectorActions& actions,
                                  const VectorObservation& seen, std::span<double> rewards,
                                  std::span<std::uint8_t> terminated) {
  if (acts()) {  // episodes act together; acts of ended episodes are ignored
    std::ranges::copy(actions.answers.subspan(lane.first, lane.count), lane.actions.begin());
    act(lane);
  }
  for (int i = lane.first; i < lane.first + lane.count; ++i) {
    Episode& episode = episodes_[i];
    rewards[i] = 0.0;
    terminated[i] = 0;
    if (episode.ended) {  // and resets automatically
      begin_episode(lane, i);
      observe(lane, i, seen);
      continue;
    }
    if (acts())
      acts_[static_cast<std::size_t>(i) * rules_.num_glimpses + episode.steps] = answers_[i];
    ++episode.steps;
    if (episode.steps == 1 && first().has_cue()) environment_of(i).end_cue(i - lane.first);
    const bool halts = rules_.halt && !actions.halts.empty() && actions.halts[i] != 0;
    const bool ends = halts || episode.steps >= length(lane, i);
    rewards[i] = act_or_answer(lane, i, actions, ends);
    episode.reward += rewards[i];
    terminated[i] = ends;
    move(i, actions.locations.row(i));
    episode.ended = ends;
    if (ends && rules_.autoreset == Autoreset::same_step) {
      observe(lane, i, final_);
      begin_episode(lane, i);
    }
    observe(lane, i, seen);
  }
}

// Returns the reward.
double VectorEnvironment::act_or_answer(Lane& lane, int i, const VectorActions& actions,
                                        bool ends) {
  const int b = i - lane.first, size = answer_size();
  double reward = ends ? 0.0 : -rules_.look_price;
  if (acts()) return reward + lane.rewards[b];
  if (!ends) return reward;
  std::array<int, kMaxSymbols> answer{};
  std::ranges::copy(actions.answers.subspan(static_cast<std::size_t>(i) * size, size),
                    answer.begin());
  return reward + environment_of(i).judge(b, std::span(answer).first(size));
}

// Returns the number of steps in the episode.
int VectorEnvironment::length(const Lane& lane, int i) const {
  const int counted = environment_of(i).facts()[i - lane.first].length;
  return counted > 0 ? std::min(counted, rules_.num_glimpses) : rules_.num_glimpses;
}

void VectorEnvironment::begin_episode(Lane& lane, int i) {
  Episode& episode = episodes_[i];
  const std::uint64_t scene = episode.scene(episode.number);
  RandomStream stream(0, Purpose::first_location, scene);
  const bool random = rules_.first == FirstLook::random;
  ++episode.number;
  episode.steps = 0;
  episode.reward = 0.0;
  episode.ended = false;
  episode.scenes = static_cast<int>(scenes_.size()) - 1;
  environment_of(i).restart(i - lane.first, scene);
  std::array<float, 3> location = {0.0F, 0.0F, 1.0F};
  for (int axis = 0; random && axis < location_size(); ++axis)
    location[axis] = stream.uniform(-1.0F, 1.0F);
  move(i, location.data());
}

void VectorEnvironment::move(int i, const float* location) {
  std::copy_n(location, location_size(), &paths_(i, episodes_[i].steps, 0));
}

void VectorEnvironment::observe(Lane& lane, int i, const VectorObservation& seen) {
  const int b = i - lane.first, t = episodes_[i].steps;
  const float* location = &paths_(i, t, 0);
  environment_of(i).look(b, location,
                         {seen.glimpses.row(i), static_cast<std::size_t>(glimpse_size())});
  std::copy_n(location, location_size(), seen.locations.row(i));
  seen.steps[i] = t;

  const SceneFacts& facts = environment_of(i).facts()[b];
  const std::span labels =
      seen.labels.subspan(static_cast<std::size_t>(i) * answer_size(), answer_size());
  std::ranges::fill(labels, -1);
  if (facts.num_symbols > 0)
    std::copy_n(facts.symbols.begin(), facts.num_symbols, labels.begin());
  else if (!acts())
    labels[0] = facts.label;
  std::int64_t* box = &seen.boxes[static_cast<std::size_t>(i) * rules_.num_boxes * 4];
  for (int k = 0; k < rules_.num_boxes; ++k)
    for (const int number :
         {facts.boxes[k].x, facts.boxes[k].y, facts.boxes[k].width, facts.boxes[k].height})
      *box++ = number;
  seen.on_target[i] = inside_a_digit(facts, location[0], location[1]);
}

EpisodeSoFar VectorEnvironment::episode(int i) const {
  const Episode& episode = episodes_[i];
  const std::span answer =
      std::span(answers_).subspan(static_cast<std::size_t>(i) * answer_size(), answer_size());
  return {.path = {&paths_(i, 0, 0), episode.steps + 1, location_size(), location_size()},
          .answer = answer.first(episode.steps > 0 ? answer.size() : 0),
          .reward = episode.reward,
          .ended = episode.ended};
}

}  // namespace saccade
