// The state of the episodes of a VectorEnvironment, and how they continue from one.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "env/vector_environment.h"

namespace saccade {
namespace {

constexpr std::size_t kCounters = 6;  // per episode in VectorState

}  // namespace

VectorState VectorEnvironment::state() const {
  VectorState state{.running = running_,
                    .counters = {},
                    .rewards = {},
                    .paths = {paths_.begin(), paths_.end()},
                    .answers = answers_,
                    .acts = acts_};
  for (const Episode& episode : episodes_) {
    for (const auto number :
         {static_cast<std::int64_t>(episode.seed), static_cast<std::int64_t>(episode.number),
          static_cast<std::int64_t>(episode.steps), static_cast<std::int64_t>(episode.seeded),
          static_cast<std::int64_t>(episode.ended), static_cast<std::int64_t>(episode.scenes)})
      state.counters.push_back(number);
    state.rewards.push_back(episode.reward);
  }
  return state;
}

void VectorEnvironment::check(const VectorState& state) const {
  const auto inside = [](const auto& numbers, double low, double high) {
    return std::ranges::all_of(numbers, [&](auto number) {
      const auto x = static_cast<double>(number);
      return low <= x && x <= high;
    });
  };
  bool fits = state.counters.size() == episodes_.size() * kCounters &&
              state.rewards.size() == episodes_.size() && state.paths.size() == paths_.size() &&
              state.answers.size() == answers_.size() && state.acts.size() == acts_.size() &&
              inside(state.paths, -1.0, 1.0) && inside(state.answers, 0, num_classes() - 1) &&
              inside(state.acts, 0, num_classes() - 1);
  for (std::size_t i = 0; fits && i < episodes_.size(); ++i) {
    const std::int64_t* counters = &state.counters[i * kCounters];
    const std::int64_t least = state.running ? 1 : 0;  // of episode number and seed flag
    fits = inside(std::span(counters, 1), 0, static_cast<double>(kSeeds - 1)) &&
           inside(std::span(counters + 1, 1), static_cast<double>(least),
                  std::numeric_limits<std::uint32_t>::max()) &&
           inside(std::span(counters + 3, 1), static_cast<double>(least), 1) &&
           inside(std::span(counters + 4, 1), 0, 1) &&
           // an episode that goes on has a glimpse left
           inside(std::span(counters + 2, 1), 0,
                  counters[4] != 0 ? rules_.num_glimpses : rules_.num_glimpses - 1) &&
           inside(std::span(counters + 5, 1), 0, static_cast<double>(scenes_.size() - 1));
  }
  if (!fits)
    throw InputError("the state is not of such environments; allowed: one of the same settings");
}

void VectorEnvironment::restore(const VectorState& state) {
  check(state);
  for (int i = 0; i < count_; ++i) {
    const std::int64_t* counters = &state.counters[i * kCounters];
    episodes_[i] = {.seed = static_cast<std::uint64_t>(counters[0]),
                    .number = static_cast<std::uint32_t>(counters[1]),
                    .steps = static_cast<int>(counters[2]),
                    .reward = state.rewards[i],
                    .seeded = counters[3] != 0,
                    .ended = counters[4] != 0,
                    .scenes = static_cast<int>(counters[5])};
  }
  std::ranges::copy(state.paths, paths_.begin());
  answers_ = state.answers;
  acts_ = state.acts;
  running_ = state.running;
  if (!running_) return;
  for_each_lane([&](Lane& lane) { replay(lane); });
}

// Replays the stored actions, or the end of a cue, to restore the scenes. The episodes of a lane
// act together, so those that are further along start replaying earlier and all arrive at once.
void VectorEnvironment::replay(Lane& lane) {
  for (const auto& environment : lane.environments) environment->reset(0);
  int longest = 0;
  for (int i = lane.first; acts() && i < lane.first + lane.count; ++i)
    longest = std::max(longest, episodes_[i].steps);
  for (int left = longest; left >= 0; --left) {
    for (int b = 0; b < lane.count; ++b) {
      const Episode& episode = episodes_[lane.first + b];
      const int steps = acts() ? episode.steps : 0;
      Environment& environment = environment_of(lane.first + b);
      if (steps == left) environment.restart(b, episode.scene(episode.number - 1));
      if (episode.steps > 0 && environment.has_cue()) environment.end_cue(b);
      const bool begun = acts() && steps >= left && left > 0;
      lane.actions[b] =
          begun ? static_cast<int>(
                      acts_[static_cast<std::size_t>(lane.first + b) * rules_.num_glimpses + steps -
                            left])
                : 0;
    }
    if (left > 0) act(lane);
  }
}

}  // namespace saccade
