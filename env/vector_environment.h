#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "env/environment.h"
#include "nn/parallel.h"
#include "nn/tensor.h"

namespace saccade {

/// What happens to an episode that has ended. Names and meanings are those of
/// gymnasium.vector.AutoresetMode (Towers et al. 2024).
enum class Autoreset {
  next_step,  // the next step begins a new one and ignores its action
  same_step,  // the step that ends it begins a new one; see final_observation()
  disabled,   // the caller must call reset()
};

enum class FirstLook { random, center };

/// The rules of an episode.
struct EpisodeRules {
  int num_glimpses = 8;  // T, 1-1000: looks before the answer, including the first
  FirstLook first = FirstLook::random;
  bool halt = false;        // allow the agent to end its episode early; not for actions
  double look_price = 0.0;  // reward deducted for each look after the first; finite
  Autoreset autoreset = Autoreset::next_step;
  int num_boxes = 1;  // K, 1-16 (kMaxDigits): number of digits per scene in the observation
};

/// The actions of N agents in one step.
struct VectorActions {
  ConstMatrix locations;                  // (N, L): next locations, numbers in [-1, 1]
  std::span<const std::int64_t> answers;  // (N, A): class, symbols or action, 0 .. C - 1
  std::span<const std::uint8_t> halts;    // (N): whether the answer ends the episode; may be empty
};

/// The progress of an episode. Its views are valid until the next call.
struct EpisodeSoFar {
  ConstMatrix path;                      // (steps + 1, L): locations so far
  std::span<const std::int64_t> answer;  // (A): the last answer; empty before the first
  double reward = 0.0;                   // the sum so far
  bool ended = false;  // and not restarted: the last location of the path came after the answer
};

/// The observations of N agents and the ground truth. The caller owns the memory.
struct VectorObservation {
  Matrix glimpses;                 // (N, D)
  Matrix locations;                // (N, L): locations of the glimpses
  std::span<std::int64_t> steps;   // (N): steps of the episode so far, 0 .. T
  std::span<std::int64_t> labels;  // (N, A): correct answers; -1 after an end mark, or for actions
  std::span<std::int64_t> boxes;   // (N, K, 4): x, y, width, height in pixels; 0 for missing digits
  std::span<std::uint8_t> on_target;  // (N): whether the look is inside a digit's box
};

/// The state of N episodes, as plain numbers, to continue elsewhere.
struct VectorState {
  bool running = false;                // whether reset() was called
  std::vector<std::int64_t> counters;  // (N, 6): seed, number of the next episode, steps, whether
                                       // it has a seed, whether it has ended, which of scenes()
  std::vector<double> rewards;         // (N)
  std::vector<float> paths;            // (N, T + 1, L)
  std::vector<std::int64_t> answers;   // (N, A)
  std::vector<std::int64_t> acts;      // (N, T): actions of the current episode, or empty
};

/// N episodes that are stepped together but begin and end independently: an Environment with the
/// vector interface of reinforcement learning libraries.
///
/// reset() takes the first look. A step takes an answer and a location. The answer counts only in
/// the last step of an episode, which is the T-th, an earlier one for a shorter scene
/// (SceneFacts::length), or one that halts: there it earns 1 if it is right. Every other step looks
/// at the location and pays look_price. The first look sees the cue, if there is one. Actions count
/// in every step (Environment::act) and move the world before the look. The last step also looks at
/// its location, for a final observation, at no price.
///
/// A location has L = 2 numbers, or 3 if the retina has a zoom. A first look at the centre is at
/// the widest zoom; a random one has a random zoom.
///
/// Episode k of an environment with seed s shows scene s 2^32 + k of the environments' training,
/// validation or test scenes (s folded to 30 bits). So N environments with seeds s, s + 1, .. match
/// N single environments with these seeds bit for bit, for any number of threads. Only one thread
/// may use it at a time.
class VectorEnvironment {
 public:
  /// `threads`: 0 uses every processor available to this process; few environments start no
  /// threads. Throws InputError (num_envs, num_glimpses, look_price, halt) for values out of range.
  VectorEnvironment(const EnvironmentFactory& environments, int count, const EpisodeRules& rules,
                    int threads);

  int size() const { return count_; }                                     // N
  int glimpse_size() const { return first().glimpse_size(); }             // D
  int answer_size() const { return std::max(1, first().max_symbols()); }  // A
  int num_classes() const { return first().num_classes(); }               // C
  int location_size() const { return first().location_size(); }           // L
  const EpisodeRules& rules() const { return rules_; }
  bool threaded() const { return workers_ && workers_->threads() > 1; }

  /// Gives the episodes that begin from now on other scenes, of environments of the same sizes;
  /// running ones keep theirs. `number` is what scenes() calls them; that of the first is 0.
  void change_scenes(const EnvironmentFactory& environments, int number);
  /// The numbers of the scenes that are shown or will be, the newest last.
  const std::vector<int>& scenes() const { return scenes_; }

  /// Before the first reset(): its environments go on with the seeds of others, as many of them.
  void follow(const VectorEnvironment& others);
  /// Begins an episode in each environment where mask (N) is not 0: the first episode of seed
  /// seeds[i] if seeds[i] >= 0, else the next one of the current seed. Writes the observations of
  /// all N. Throws InputError naming the environment, before any change, if it has no seed yet.
  void reset(std::span<const std::int64_t> seeds, std::span<const std::uint8_t> mask,
             const VectorObservation& seen);
  /// Throws InputError naming the environment, before any change, for a location out of range, an
  /// invalid answer or, with Autoreset::disabled, an ended episode; std::logic_error before the
  /// first reset().
  void step(const VectorActions& actions, const VectorObservation& seen, std::span<double> rewards,
            std::span<std::uint8_t> terminated);
  /// With Autoreset::same_step: the final observations of the episodes that ended in the last step.
  /// Only their rows are written.
  const VectorObservation& final_observation() const { return final_; }

  /// The state of the episodes. Another object with the same environments, scenes() and rules
  /// continues from it bit for bit, except for final_observation(). restore() throws InputError,
  /// before any change, if the state does not fit.
  VectorState state() const;
  void restore(const VectorState& state);

  /// For pictures: the current episode of environment i (after the first reset()), and the batch
  /// that holds it, as its episode place_of(i).
  EpisodeSoFar episode(int i) const;
  Environment& environment_of(int i) const {
    return *lanes_[i / kLane].environments[episodes_[i].scenes];
  }
  static int place_of(int i) { return i % kLane; }

 private:
  static constexpr int kLane = 32;  // environments per thread task
  // Splits of catch use scene numbers beyond those of these seeds.
  static constexpr std::uint64_t kSeeds = std::uint64_t{1} << 30;

  struct Lane {
    int first, count;
    std::vector<std::unique_ptr<Environment>> environments;  // one for each of scenes_
    std::vector<int> actions;                                // (count)
    std::vector<float> rewards;                              // (count)
    std::vector<float> all_rewards;                          // (count): of one of the environments
  };
  struct Episode {
    std::uint64_t seed = 0;
    std::uint32_t number = 0;  // of the next episode
    int steps = 0;
    double reward = 0.0;
    bool seeded = false, ended = false;
    int scenes = 0;  // its index in scenes_

    std::uint64_t scene(std::uint32_t episode) const { return seed << 32 | episode; }
  };
  /// Memory for final_, sized for all N.
  struct Memory {
    Tensor<2> glimpses, locations;
    std::vector<std::int64_t> steps, labels, boxes;
    std::vector<std::uint8_t> on_target;
  };

  const Environment& first() const { return *lanes_.front().environments.front(); }
  bool acts() const { return first().answer_kind() == AnswerKind::actions; }
  template <class Body>
  void for_each_lane(const Body& body) {
    if (!workers_) return body(lanes_.front());
    workers_->for_each(static_cast<int>(lanes_.size()), [&](int l) { body(lanes_[l]); });
  }
  void check(const VectorActions& actions) const;
  void check(const VectorState& state) const;
  void replay(Lane& lane);
  void act(Lane& lane);
  void drop_unused_scenes();
  void begin_episode(Lane& lane, int i);
  void move(int i, const float* location);
  void observe(Lane& lane, int i, const VectorObservation& seen);
  void step_lane(Lane& lane, const VectorActions& actions, const VectorObservation& seen,
                 std::span<double> rewards, std::span<std::uint8_t> terminated);
  double act_or_answer(Lane& lane, int i, const VectorActions& actions, bool ends);
  int length(const Lane& lane, int i) const;

  EpisodeRules rules_;
  int count_;
  std::vector<Lane> lanes_;
  std::vector<int> scenes_ = {0};
  std::optional<Workers> workers_;     // if there is more than one lane
  std::vector<Episode> episodes_;      // (N)
  Tensor<3> paths_;                    // (N, T + 1, L)
  std::vector<std::int64_t> answers_;  // (N, A)
  std::vector<std::int64_t> acts_;     // (N, T): actions of the current episode, or empty
  bool running_ = false;
  Memory memory_;
  VectorObservation final_;
};

}  // namespace saccade
