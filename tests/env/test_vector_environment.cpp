#include "env/vector_environment.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "env/catch.h"
#include "env/glimpse_environment.h"
#include "env/search.h"
#include "nn/random.h"
#include "tests/env/digit_fixtures.h"
#include "tests/support.h"

namespace saccade {
namespace {

constexpr int kGlimpses = 4;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Makes environments of one kind of scene, with digits of noise.
class Worlds {
 public:
  explicit Worlds(const std::string& kind) : digits_(noise_digits(13, 8, 8, 1, 10)) {
    scene_.kind = kind;
    scene_.distractor_size = 4;
    scene_.canvas = {20, 24};
    if (kind == "bag")
      scene_ = {.kind = kind, .canvas = {20, 30}, .num_digits = 5, .min_digits = 1};
    if (kind == "search") {
      digits_ = noise_digits(13, 8, 8, 1, 5);
      scene_ = {.kind = kind, .canvas = {20, 30}, .num_digits = 5, .min_digits = 1};
    }
    if (kind == "transcribe")
      scene_ = {.kind = kind,
                .canvas = {12, 40},
                .num_digits = 3,
                .min_digits = 1,
                .num_distractors = 1,
                .distractor_size = 4};
    settle(scene_);
  }

  EnvironmentFactory factory() const {
    return [this](int episodes, int rollouts) -> std::unique_ptr<Environment> {
      const Retina retina({5, 2, 2}, scene_.canvas[0], scene_.canvas[1], 1);
      if (scene_.kind == "catch")
        return std::make_unique<CatchEnvironment>(scene_.canvas, retina, Split::train, 1, episodes,
                                                  rollouts);
      if (scene_.kind == "search")
        return std::make_unique<SearchEnvironment>(scene_, AugmentationConfig{}, digits_,
                                                   DigitOrder::shuffled, retina, 1, episodes,
                                                   rollouts);
      const SceneMaker scenes(scene_, {}, digits_, DigitOrder::shuffled, 1);
      return std::make_unique<GlimpseEnvironment>(scenes, retina, episodes, rollouts);
    };
  }
  int num_boxes() const { return scene_.kind == "catch" ? 1 : scene_.num_digits; }

 private:
  SceneConfig scene_;
  Dataset digits_;
};

// The arrays that N environments write into, and their actions.
struct Arrays {
  explicit Arrays(const VectorEnvironment& environments)
      : count(environments.size()),
        glimpses(zeros<2>(count, environments.glimpse_size())),
        places(zeros<2>(count, 2)),
        steps(count),
        labels(count * environments.answer_size()),
        boxes(count * environments.rules().num_boxes * 4),
        on_target(count),
        rewards(count),
        terminated(count),
        locations(zeros<2>(count, 2)),
        answers(count * environments.answer_size()),
        halts(count) {}

  VectorObservation seen() {
    return {matrix(glimpses), matrix(places), steps, labels, boxes, on_target};
  }
  VectorActions actions() const { return {matrix(locations), answers, halts}; }

  void reset(VectorEnvironment& environments, std::int64_t seed) {
    std::vector<std::int64_t> seeds(count);
    for (int i = 0; i < count; ++i) seeds[i] = seed + i;
    environments.reset(seeds, std::vector<std::uint8_t>(count, 1), seen());
  }
  // Random actions of environment i at its step, independent of the others.
  void act(int i, int first, int step, int classes) {
    const int size = static_cast<int>(answers.size()) / count;
    RandomStream stream(11, Purpose::policy_noise, step, first + i);
    for (int axis = 0; axis < 2; ++axis) locations(i, axis) = stream.uniform(-1.0F, 1.0F);
    for (int a = 0; a < size; ++a) answers[i * size + a] = stream.below(classes);
    halts[i] = static_cast<std::uint8_t>(stream.below(4) == 0);
  }
  void step(VectorEnvironment& environments, int step) {
    for (int i = 0; i < count; ++i) act(i, 0, step, environments.num_classes());
    environments.step(actions(), seen(), rewards, terminated);
  }
  // Everything that environment i returned.
  std::vector<double> row(int i) const {
    std::vector<double> all;
    const auto add = [&](const auto& numbers) {
      const std::size_t width = numbers.size() / count;
      all.insert(all.end(), numbers.begin() + i * width, numbers.begin() + (i + 1) * width);
    };
    add(glimpses), add(places), add(steps), add(labels), add(boxes), add(on_target);
    return all;
  }
  std::vector<double> everything() const {
    std::vector<double> all;
    for (int i = 0; i < count; ++i) {
      const std::vector<double> one = row(i);
      all.insert(all.end(), one.begin(), one.end());
      all.push_back(rewards[i]);
      all.push_back(terminated[i]);
    }
    return all;
  }

  int count;
  Tensor<2> glimpses, places;
  std::vector<std::int64_t> steps, labels, boxes;
  std::vector<std::uint8_t> on_target;
  std::vector<double> rewards;
  std::vector<std::uint8_t> terminated;
  Tensor<2> locations;
  std::vector<std::int64_t> answers;
  std::vector<std::uint8_t> halts;
};

// A single environment, simply written: an Environment of one episode, started and answered as a
// whole.
class Plain {
 public:
  Plain(const EnvironmentFactory& factory, const EpisodeRules& rules, std::uint64_t seed)
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

  // In the format of Arrays::row.
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

std::vector<int> answer_of(const Arrays& arrays, int i) {
  const std::size_t size = arrays.answers.size() / arrays.count;
  return {arrays.answers.begin() + i * size, arrays.answers.begin() + (i + 1) * size};
}

std::string fault(const EpisodeRules& rules, int count, const std::string& kind = "cluttered") {
  return message_of<InputError>(
      [&] { VectorEnvironment(Worlds(kind).factory(), count, rules, 1); });
}

}  // namespace

TEST_CASE("a vector environment equals its environments one by one, however they are reset") {
  constexpr int kCount = 37, kSteps = 40;  // two lanes
  for (const std::string kind : {"cluttered", "bag", "transcribe", "search", "catch"})
    for (const Autoreset autoreset :
         {Autoreset::next_step, Autoreset::same_step, Autoreset::disabled})
      for (const bool halt : {false, true}) {
        if (halt && kind == "catch") continue;
        CAPTURE(kind);
        CAPTURE(static_cast<int>(autoreset));
        CAPTURE(halt);
        const Worlds worlds(kind);
        const EpisodeRules rules{.num_glimpses = kGlimpses,
                                 .first = halt ? FirstLook::center : FirstLook::random,
                                 .halt = halt,
                                 .look_price = 0.125,
                                 .autoreset = autoreset,
                                 .num_boxes = worlds.num_boxes()};
        VectorEnvironment environments(worlds.factory(), kCount, rules, 1);
        Arrays arrays(environments);
        arrays.reset(environments, 5);
        std::vector<Plain> plain;
        for (int i = 0; i < kCount; ++i) plain.emplace_back(worlds.factory(), rules, 5 + i);
        for (int i = 0; i < kCount; ++i) REQUIRE(arrays.row(i) == plain[i].row());

        int ends = 0;
        for (int t = 0; t < kSteps; ++t) {
          arrays.step(environments, t);
          std::vector<std::uint8_t> over(kCount);
          for (int i = 0; i < kCount; ++i) {
            if (plain[i].over()) {  // next_step
              plain[i].begin();
              REQUIRE(arrays.rewards[i] == 0.0);
              REQUIRE_FALSE(arrays.terminated[i]);
              REQUIRE(arrays.row(i) == plain[i].row());
              continue;
            }
            plain[i].step(arrays.locations(i, 0), arrays.locations(i, 1), answer_of(arrays, i),
                          arrays.halts[i]);
            over[i] = plain[i].over();
            ends += over[i];
            REQUIRE(arrays.rewards[i] == plain[i].reward());
            REQUIRE(arrays.terminated[i] == over[i]);
            if (over[i] && autoreset == Autoreset::same_step) {
              Arrays last(environments);
              const VectorObservation& end = environments.final_observation();
              std::copy_n(end.glimpses.data, last.glimpses.size(), last.glimpses.data());
              std::copy_n(end.locations.data, last.places.size(), last.places.data());
              std::ranges::copy(end.steps, last.steps.begin());
              std::ranges::copy(end.labels, last.labels.begin());
              std::ranges::copy(end.boxes, last.boxes.begin());
              std::ranges::copy(end.on_target, last.on_target.begin());
              REQUIRE(last.row(i) == plain[i].row());
              plain[i].begin();
            }
            REQUIRE(arrays.row(i) == plain[i].row());
          }
          if (autoreset != Autoreset::disabled ||
              std::ranges::none_of(over, [](bool end) { return end; }))
            continue;
          environments.reset(std::vector<std::int64_t>(kCount, -1), over, arrays.seen());
          for (int i = 0; i < kCount; ++i) {
            if (over[i]) plain[i].begin();
            REQUIRE(arrays.row(i) == plain[i].row());
          }
        }
        CHECK(ends > kCount);
      }
}

TEST_CASE("vector environment: any number of threads gives the same bits") {
  for (const std::string kind : {"bag", "search", "catch"}) {
    const Worlds worlds(kind);
    const auto play = [&](int threads) {
      VectorEnvironment environments(worlds.factory(), 100,
                                     {.num_glimpses = kGlimpses, .num_boxes = worlds.num_boxes()},
                                     threads);
      Arrays arrays(environments);
      arrays.reset(environments, 0);
      std::vector<double> all = arrays.everything();
      for (int t = 0; t < 12; ++t) {
        arrays.step(environments, t);
        const std::vector<double> step = arrays.everything();
        all.insert(all.end(), step.begin(), step.end());
      }
      return all;
    };
    const std::vector<double> one = play(1);
    for (const int threads : {2, 4}) CHECK(play(threads) == one);
  }
}

TEST_CASE("vector environment: a restored state continues with the same bits") {
  for (const std::string kind : {"bag", "search", "catch"}) {
    CAPTURE(kind);
    const Worlds worlds(kind);
    const EpisodeRules rules{
        .num_glimpses = kGlimpses, .halt = kind != "catch", .num_boxes = worlds.num_boxes()};
    VectorEnvironment environments(worlds.factory(), 35, rules, 1);
    Arrays arrays(environments);
    arrays.reset(environments, 5);
    for (int t = 0; t < 9; ++t) {
      VectorEnvironment twin(worlds.factory(), 35, rules, 1);
      twin.restore(environments.state());
      Arrays other(twin);
      arrays.step(environments, t);
      other.step(twin, t);
      CHECK(arrays.everything() == other.everything());
    }
  }
}

TEST_CASE(
    "vector environment: a state of an episode that goes on after its last glimpse is refused") {
  const Worlds worlds("catch");
  const EpisodeRules rules{.num_glimpses = kGlimpses, .num_boxes = worlds.num_boxes()};
  VectorEnvironment environments(worlds.factory(), 3, rules, 1);
  Arrays arrays(environments);
  arrays.reset(environments, 5);
  constexpr int kSteps = 2, kEnded = 4;  // of the counters of an episode
  VectorState state = environments.state();
  state.counters[kSteps] = kGlimpses;
  CHECK_THROWS_AS(environments.restore(state), InputError);
  state.counters[kEnded] = 1;
  environments.restore(state);
}

TEST_CASE("vector environment: it is threaded only with several threads and enough episodes") {
  const Worlds worlds("cluttered");
  CHECK_FALSE(VectorEnvironment(worlds.factory(), 32, {}, 4).threaded());
  CHECK_FALSE(VectorEnvironment(worlds.factory(), 33, {}, 1).threaded());
  CHECK(VectorEnvironment(worlds.factory(), 33, {}, 2).threaded());
}

TEST_CASE("vector environment: an episode reports its progress") {
  const Worlds worlds("bag");
  VectorEnvironment environments(worlds.factory(), 3,
                                 {.num_glimpses = 2, .look_price = 0.5, .num_boxes = 5}, 1);
  Arrays arrays(environments);
  arrays.reset(environments, 0);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) {
      const EpisodeSoFar begin = environments.episode(i);
      CHECK(begin.path.rows == 1);
      CHECK(begin.path(0, 0) == arrays.places(i, 0));
      CHECK(begin.answer.empty());
      CHECK(begin.reward == 0.0);
      CHECK_FALSE(begin.ended);
    }
    for (int t = 1; t <= 2; ++t) {
      arrays.step(environments, t);
      for (int i = 0; i < 3; ++i) {
        const EpisodeSoFar episode = environments.episode(i);
        if (t == 2 && !episode.ended) continue;  // a bag of one digit has already ended
        CHECK(episode.path.rows == t + 1);
        CHECK(episode.path(t, 0) == arrays.locations(i, 0));
        CHECK(episode.path(t, 1) == arrays.locations(i, 1));
        CHECK(episode.answer[0] == arrays.answers[i]);
        CHECK(episode.ended == (arrays.terminated[i] != 0));
        CHECK(episode.reward == (t == 1 ? 0.0 : -0.5) + arrays.rewards[i]);
      }
    }
    environments.reset(std::vector<std::int64_t>(3, -1), std::vector<std::uint8_t>(3, 1),
                       arrays.seen());
  }
}

TEST_CASE("vector environment: a refused call changes nothing") {
  const Worlds worlds("cluttered");
  const EpisodeRules rules{.num_glimpses = 3, .autoreset = Autoreset::disabled};
  VectorEnvironment environments(worlds.factory(), 3, rules, 1);
  VectorEnvironment twin(worlds.factory(), 3, rules, 1);
  Arrays arrays(environments), other(twin);
  const std::vector<std::int64_t> seeds = {4, 5, 6}, no_seeds = {-1, -1, -1};
  const std::vector<std::uint8_t> all = {1, 1, 1}, some = {1, 0, 1};
  const auto reset = [&](const auto& which, const auto& mask) {
    return message_of<InputError>([&] { environments.reset(which, mask, arrays.seen()); });
  };
  const auto step = [&] {
    return message_of<InputError>([&] {
      environments.step(arrays.actions(), arrays.seen(), arrays.rewards, arrays.terminated);
    });
  };
  CHECK_THROWS_AS(arrays.step(environments, 0), std::logic_error);
  CHECK(reset(seeds, some) ==
        "reset_mask: environment 1 is left out and was never reset; reset all of them first");
  CHECK(reset(no_seeds, all) == "seed: none for environment 0, which never had one");
  CHECK(reset(std::vector<std::int64_t>{4, -1, 6}, all) ==
        "seed: none for environment 1, which never had one");
  CHECK_THROWS_AS(arrays.step(environments, 0), std::logic_error);

  environments.reset(seeds, all, arrays.seen());
  twin.reset(seeds, all, other.seen());
  CHECK(arrays.everything() == other.everything());
  arrays.step(environments, 0);
  other.step(twin, 0);
  const std::vector<double> before = arrays.everything();
  for (const float bad : {1.01F, -2.0F, kNaN}) {
    arrays.locations(2, 1) = bad;
    CHECK(step() == fmt::format("action 'location' of environment 2: {}; allowed: -1 to 1", bad));
  }
  arrays.locations(2, 1) = 0.0F;
  for (const int bad : {-1, 10}) {
    arrays.answers[1] = bad;
    CHECK(step() == fmt::format("action 'answer' of environment 1: {}; allowed: 0 to 9", bad));
  }
  CHECK(arrays.everything() == before);
  CHECK(environments.episode(1).answer[0] == other.answers[1]);
  for (int t = 1; t < 3; ++t) {
    arrays.step(environments, t);
    other.step(twin, t);
    CHECK(arrays.everything() == other.everything());
  }
  arrays.answers[1] = 0;
  CHECK(step() ==
        "step() after the end of the episode of environment 0; reset() begins another one");
  environments.reset(no_seeds, some, arrays.seen());
  CHECK(step() ==
        "step() after the end of the episode of environment 1; reset() begins another one");
}

TEST_CASE("vector environment: invalid rules are refused") {
  CHECK(fault({}, 0) == "num_envs: 0; allowed: 1 to 1000000");
  CHECK(fault({.num_glimpses = 0}, 1) == "num_glimpses: 0; allowed: 1 to 1000");
  CHECK(fault({.num_glimpses = 1001}, 1) == "num_glimpses: 1001; allowed: 1 to 1000");
  CHECK(fault({.look_price = std::numeric_limits<double>::infinity()}, 1) ==
        "look_price: inf; allowed: a number");
  CHECK(fault({.num_boxes = 0}, 1) == "num_boxes: 0; allowed: 1 to 16");
  CHECK(fault({.num_boxes = 17}, 1) == "num_boxes: 17; allowed: 1 to 16");
  CHECK(fault({.num_boxes = 16}, 1) == "nothing thrown");
  CHECK(fault({.halt = true}, 1, "catch") ==
        "halt: true, but every action counts here; allowed: false");
  CHECK(fault({.halt = true}, 1) == "nothing thrown");
}

}  // namespace saccade
