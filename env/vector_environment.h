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

/// What becomes of an episode that has ended, as gymnasium.vector.AutoresetMode names and defines
/// it (Towers et al. 2024).
enum class Autoreset {
  next_step,  // the next step begins another one, whatever its action
  same_step,  // the step that ended it begins another one: see final_observation()
  disabled,   // reset() has to
};

enum class FirstLook { random, center };

/// How an episode goes.
struct EpisodeRules {
  int num_glimpses = 8;  // T, 1-1000: looks that an answer can rest on, the first one included
  FirstLook first = FirstLook::random;
  bool halt = false;        // an agent may end its episode before the last step; not of actions
  double look_price = 0.0;  // taken from the reward for each look after the first, finite
  Autoreset autoreset = Autoreset::next_step;
  int num_boxes = 1;  // K: digits of a scene that the facts tell of
};

/// What N agents do in a step.
struct VectorActions {
  ConstMatrix locations;                  // (N, 2): where to look next, (x, y) in [-1, 1]
  std::span<const std::int64_t> answers;  // (N, A): class, symbols or action, 0 .. C - 1
  std::span<const std::uint8_t> halts;    // (N): whether the answer ends it; may be none
};

/// How far an episode has come. What it points to is valid until the next call.
struct EpisodeSoFar {
  ConstMatrix path;                    // (steps + 1, 2): where it was looked at
  std::span<const std::int64_t> said;  // (A): the last answer; none before the first
  double earned = 0.0;
  bool ended = false;  // and no other has begun: the last place of the path came after the answer
};

/// What N agents see, and what is true apart from that. Memory of the caller.
struct VectorObservation {
  Matrix glimpses;                 // (N, D)
  Matrix locations;                // (N, 2): where that was seen
  std::span<std::int64_t> steps;   // (N): steps of the episode so far, 0 .. T
  std::span<std::int64_t> labels;  // (N, A): what to answer; -1 after an end mark, or of actions
  std::span<std::int64_t> boxes;   // (N, K, 4): x, y, width, height in pixels; 0 where no digit is
  std::span<std::uint8_t> on_target;  // (N): whether the look is inside a digit's box
};

/// Where N episodes are, to go on from there elsewhere: numbers alone.
struct VectorState {
  bool running = false;                // whether there was a reset()
  std::vector<std::int64_t> counters;  // (N, 5): seed, number of the next episode, steps, whether
                                       // it has a seed, whether it has ended
  std::vector<double> earned;          // (N)
  std::vector<float> paths;            // (N, T + 1, 2)
  std::vector<std::int64_t> said;      // (N, A)
  std::vector<std::int64_t> acts;      // (N, T): the actions of the episode so far; else none
};

/// N episodes that are stepped side by side and begin and end each at its own time: an Environment
/// as reinforcement learning libraries know it.
///
/// reset() takes the first look. A step hands over an answer and a location. The answer counts in
/// the last step of the episode, which is the T-th, an earlier one of a scene that is shorter
/// (SceneFacts::length), or one that halts: there it earns 1 if it is right. All others look at the
/// location and pay look_price. Of actions every one counts (Environment::act) and moves the world
/// before the look. The last step's location is looked at, too, so that there is an observation of
/// the end; it has no price.
///
/// Episode k of an environment with seed s shows scene s 2^32 + k of the environments' training,
/// validation or test scenes (s folded to 30 bits): N environments with seeds s, s + 1, .. are bit
/// for bit N environments of one with these seeds, for any number of threads. Used by one thread at
/// a time.
class VectorEnvironment {
 public:
  /// `threads`: 0 takes every processor this process may use; few environments take none of their
  /// own. Throws InputError (num_envs, num_glimpses, look_price, halt) for what is out of range.
  VectorEnvironment(const EnvironmentFactory& environments, int count, const EpisodeRules& rules,
                    int threads);

  int size() const { return count_; }                                     // N
  int glimpse_size() const { return first().glimpse_size(); }             // D
  int answer_size() const { return std::max(1, first().max_symbols()); }  // A
  int num_classes() const { return first().num_classes(); }               // C
  const EpisodeRules& rules() const { return rules_; }
  bool threaded() const { return workers_ && workers_->threads() > 1; }

  /// Begins an episode in each environment where mask (N) is not 0: the first one of seeds[i] >= 0,
  /// or of a negative one that which follows the last. Writes the observation of all N. Throws
  /// InputError naming the environment, and nothing has changed, for one that has no seed yet.
  void reset(std::span<const std::int64_t> seeds, std::span<const std::uint8_t> mask,
             const VectorObservation& seen);
  /// Throws InputError naming the environment, and nothing has changed, for a location outside, an
  /// answer that there is not, and with Autoreset::disabled an episode that has ended;
  /// std::logic_error before the first reset().
  void step(const VectorActions& actions, const VectorObservation& seen, std::span<double> rewards,
            std::span<std::uint8_t> terminated);
  /// With Autoreset::same_step: how the episodes that ended in the last step looked at their end.
  /// Only their rows are written.
  const VectorObservation& final_observation() const { return final_; }

  /// Where the episodes are. One with the same environments and rules goes on from there with the
  /// same bits, but for final_observation(). restore() throws InputError, and nothing has changed,
  /// for what cannot be of these.
  VectorState state() const;
  void restore(const VectorState& state);

  /// The episode of environment i after the first reset(), and the environment of several episodes
  /// where it is the place_of(i)-th, for pictures.
  EpisodeSoFar episode(int i) const;
  Environment& environment_of(int i) const { return *lanes_[i / kLane].environment; }
  static int place_of(int i) { return i % kLane; }

 private:
  static constexpr int kLane = 32;  // environments that a thread takes at a time

  struct Lane {
    int first, count;
    std::unique_ptr<Environment> environment;
    std::vector<int> actions;    // (count)
    std::vector<float> rewards;  // (count)
  };
  struct Episode {
    std::uint64_t seed = 0;
    std::uint32_t number = 0;  // of the next one
    int steps = 0;
    double earned = 0.0;
    bool seeded = false, ended = false;
  };
  /// The memory of final_, as large as all N take.
  struct Memory {
    Tensor<2> glimpses, locations;
    std::vector<std::int64_t> steps, labels, boxes;
    std::vector<std::uint8_t> on_target;
  };

  const Environment& first() const { return *lanes_.front().environment; }
  bool acts() const { return first().answer_kind() == AnswerKind::actions; }
  template <class Body>
  void for_each_lane(const Body& body);
  void check(const VectorActions& actions) const;
  void check(const VectorState& state) const;
  void replay(Lane& lane);
  void begin_episode(Lane& lane, int i);
  void move(int i, float x, float y);
  void observe(Lane& lane, int i, const VectorObservation& seen);
  void step_lane(Lane& lane, const VectorActions& actions, const VectorObservation& seen,
                 std::span<double> rewards, std::span<std::uint8_t> terminated);
  double act_or_answer(Lane& lane, int i, const VectorActions& actions, bool ends);
  int length(const Lane& lane, int i) const;

  EpisodeRules rules_;
  int count_;
  std::vector<Lane> lanes_;
  std::optional<Workers> workers_;  // where there is more than one lane
  std::vector<Episode> episodes_;   // (N)
  Tensor<3> paths_;                 // (N, T + 1, 2)
  std::vector<std::int64_t> said_;  // (N, A)
  std::vector<std::int64_t> acts_;  // (N, T): what was done in the episode; else none
  bool running_ = false;
  Memory memory_;
  VectorObservation final_;
};

}  // namespace saccade
