// Kinds that a program registers: those of examples/own_kinds, and one for each of the other
// tables. The tests of every kind run with them in this program, too.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <stdexcept>

#include "agent/cores/core.h"
#include "agent/credit/reward.h"
#include "attention/pairwise_score.h"
#include "attention/policy.h"
#include "env/digits.h"
#include "env/task_kinds.h"
#include "experiments/config/config.h"
#include "experiments/config/settings_json.h"
#include "experiments/runs/shared_agent.h"
#include "experiments/task/shared_digits.h"
#include "nn/optimizer.h"
#include "tests/agent/slopes.h"
#include "tests/env/environment_contract.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"
#include "tests/guarded_matrix.h"
#include "tests/own_kinds/scanpath.h"

void register_kinds();  // of examples/own_kinds/main.cpp

namespace saccade {
namespace {

class PairwiseDot final : public PairwiseScore {
  using PairwiseScore::PairwiseScore;

  float value(Vector query, Vector key) const override {
    float sum = 0.0F;
    for (std::size_t i = 0; i < key.size(); ++i) sum += query[i] * key[i];
    return sum;
  }
  void add_gradient(std::span<float> d, float dscore, Vector, Vector other) const override {
    for (std::size_t i = 0; i < d.size(); ++i) d[i] += dscore * other[i];
  }
};

void look_at_corner(Matrix samples, const LookRequest&) {
  for (int b = 0; b < samples.rows; ++b) std::fill_n(samples.row(b), samples.cols, 0.75F);
}

void descend(const ParameterBlock& block, const UpdateCoefficients& k) {
  const auto power = static_cast<float>(k.own->get<double>("training.descend.power"));
  for (std::size_t i = 0; i < block.size; ++i) {
    const float g = k.clip * block.gradient[i];
    block.weight[i] -= k.rate * std::copysign(std::pow(std::abs(g), power), g);
    block.averaged[i] += k.average * (block.weight[i] - block.averaged[i]);
  }
}

float pay_a_part(bool right, float, float, const OwnValues& own) {
  return right ? static_cast<float>(own.get<double>("reinforce.part.share")) : 0.0F;
}

void pay_the_calm(const RewardRequest& request, Matrix rewards) {
  const auto pay = static_cast<float>(request.own->get<double>("reinforce.calm.pay"));
  for (int t = 0; t < rewards.rows; ++t)
    for (int b = 0; b < rewards.cols; ++b)
      rewards(t, b) = t > 0 && request.probabilities(t, b, 0) == request.probabilities(t - 1, b, 0)
                          ? pay
                          : pay * request.probabilities(t, b, 0);
}

RawDatasets load_few(const DataConfig& config) {
  return draw_synthetic(config.own.get<int>("data.few.digits"), /*num_test=*/12, /*seed=*/1);
}

const ScoreKind kPairwiseDot = {.make = make_pairwise_score<PairwiseDot>,
                                .needs_equal_widths = true};

// Before main(): nothing has read a table.
const bool kRegistered = [] {
  register_kinds();
  register_digit_source("few", {.load = load_few, .path = DigitSource::Path::unused},
                        {{"digits", 90, closed(12, 1000), "Number of training digits"}});
  register_score("pairwise_dot", kPairwiseDot);
  register_reward("part", {pay_a_part},
                  {{"share", 0.5, closed(0, 1), "Share of the reward that is paid"}});
  register_reward("calm", {.by_step = true, .of_beliefs = pay_the_calm},
                  {{"pay", 0.5, closed(0, 1), "Reward of a look that changes nothing"}});
  register_core("gru_again", {.make = make_gru});
  register_optimizer("descend", {.update = descend},
                     {{"power", 1.0, closed(0, 2), "Power of the gradient's size"}});
  register_policy("corner", look_at_corner);
  register_glimpse_kind("scanpath", kScanpath,
                        {{"reach", 0.8, closed(0, 1), "Distance of places from the middle"}});
  return true;
}();

const Overrides kBars = {"scene.kind=bars", "scene.num_distractors=0"};

Program::Result run_bars(const fs::path& folder, CommandWords words) {
  words.insert(words.begin(), OWN_KINDS_PROGRAM);
  return Program(folder, words).finish();
}

}  // namespace

TEST_CASE("a registered world satisfies the environment contract, by its settings") {
  const TaskKind& kind = find_task_kind("bars");
  SceneConfig scene{.kind = "bars", .canvas = {17, 20}};
  for (const int rollouts : {1, 3}) {
    const Retina retina({4, 2, 2}, 17, 20, 1);
    const auto make = [&] {
      return kind.make({scene, {}, Digits{}, &retina, Split::train, 1, /*episodes=*/6, rollouts});
    };
    check_environment(make, 17, 20);
    check_grid(make);
    check_canvases(make, 17, 20);
    const auto environment = make();
    environment->reset(0);
    const Box& box = environment->facts()[0].boxes[0];
    CHECK(std::max(box.width, box.height) == 5);
  }
}

TEST_CASE("registered names are taken, are listed, and come before the first use") {
  CHECK(message_of<InputError>([] { find_task_kind("baars"); }).ends_with(", own_game, bars"));
  CHECK(message_of<InputError>([] { find_reward("baars"); }).ends_with(", own, part, calm"));
  const auto refused = [](const std::function<void()>& registers) {
    return contains(message_of<std::logic_error>(registers),
                    "the table was read; allowed: before that");
  };
  CHECK(refused([] { register_task_kind("late", find_task_kind("bars")); }));
  CHECK(refused([] { register_reward("late", find_reward("part")); }));
  score_kinds();
  CHECK(refused([] { register_score("late", kPairwiseDot); }));
  core_kinds();
  CHECK(refused([] { register_core("late", {.make = make_gru}); }));
  optimizers();
  CHECK(refused([] { register_optimizer("late", {.update = descend}); }));
  policies();
  CHECK(refused([] { register_policy("late", look_at_corner); }));
  glimpse_kinds();
  CHECK(refused([] { register_glimpse_kind("late", kScanpath); }));
  digit_sources();
  CHECK(refused([] { register_digit_source("late", {.load = load_few}); }));
  CHECK(contains(message_of<InputError>([] { register_task_kind("late", {}); }),
                 "scene.kind: 'late' cannot be registered: needed: make, sizes, answer_name"));
  CHECK(contains(message_of<InputError>([] { register_digit_source("late", {}); }),
                 "data.source: 'late' cannot be registered: needed: load"));
  const auto needs = [](const std::string& what, const std::function<void()>& registers) {
    return contains(message_of<InputError>(registers), "cannot be registered: needed: " + what);
  };
  CHECK(needs("make", [] { register_score("late", {}); }));
  CHECK(needs("of_answer", [] { register_reward("late", {}); }));
  CHECK(needs("of_answer", [] { register_reward("late", find_reward("own")); }));
  CHECK(needs("of_answer", [] { register_reward("late", {.of_beliefs = pay_the_calm}); }));
  CHECK(needs("make", [] { register_core("late", {}); }));
  CHECK(needs("make", [] { register_glimpse_kind("late", {}); }));
  CHECK(needs("update", [] { register_optimizer("late", {}); }));
}

TEST_CASE("a pairwise score has the values and gradients of the same score on matrices") {
  constexpr int kSteps = 3, kScenes = 2, kKeys = 5, kWidth = 7;
  for (const KeyOrder order : {KeyOrder::by_episode, KeyOrder::by_step})
    for (const int first : {0, 1, kSteps}) {
      std::vector<std::vector<float>> found;
      for (const char* kind : {"dot", "pairwise_dot"}) {
        ParameterLayout layout;
        const auto score = make_score(kind, "s", kWidth, kWidth, 1, layout);
        CHECK(layout.size() == 0);
        ScoreMemory memory = score->make_memory(kSteps, kScenes, kKeys, order);
        GuardedMatrix keys(kScenes * kKeys, kWidth), dkeys(kScenes * kKeys, kWidth),
            queries(kSteps * kScenes, kWidth), dqueries(kSteps * kScenes, kWidth),
            scores(kSteps * kScenes, kKeys), dscores(kSteps * kScenes, kKeys);
        RandomStream stream(1, Purpose::scene, 0, 0);
        for (GuardedMatrix* m : {&keys, &dkeys, &queries, &dqueries, &scores, &dscores})
          m->randomize(stream);
        const auto at = [](GuardedMatrix& m, int t) {
          return m.view().row_range(t * kScenes, kScenes);
        };
        score->prepare(memory, keys.view(), {});
        for (int t = 0; t < kSteps; ++t)
          score->forward(at(scores, t), memory, t, at(queries, t), keys.view(), {});
        for (int t = kSteps - 1; t >= first; --t)
          score->backward(t == 1 ? Matrix{} : at(dqueries, t), memory, t, at(dscores, t),
                          at(queries, t), keys.view(), {});
        score->finish({}, dkeys.view(), memory, first, queries.view(), keys.view(), {});
        std::vector<float> numbers;
        for (GuardedMatrix* m : {&scores, &dqueries, &dkeys})
          for (int r = 0; r < m->view().rows; ++r)
            numbers.insert(numbers.end(), m->view().row(r), m->view().row(r) + m->view().cols);
        found.push_back(numbers);
        CHECK(score->work(kSteps, kKeys).forward == kSteps * kKeys * kWidth);
      }
      REQUIRE(found[0].size() == found[1].size());
      for (std::size_t i = 0; i < found[0].size(); ++i)
        CHECK(found[1][i] == doctest::Approx(found[0][i]).epsilon(1e-5));
    }
}

TEST_CASE("settings of registered kinds are read, written, refused and left out like ours") {
  const TinyExperiment tiny;
  const auto read = [&](const Overrides& overrides) {
    return read_config(tiny.yaml, with(kBars, overrides));
  };
  const auto fault = [&](const Overrides& overrides) {
    return message_of<InputError>([&] { read(overrides); });
  };
  const Config config = read({"scene.bars.length=3"});
  CHECK(config.scene.own.get<int>("scene.bars.length") == 3);
  CHECK(contains(to_yaml(config), "  bars:\n    length: 3 "));
  const Config again = parse_config(to_yaml(config), "again");
  CHECK(differences(config, again).empty());
  CHECK(differences(config, read({})).size() == 1);
  CHECK(fault({"scene.bars.length=9"}) ==
        "override 'scene.bars.length=9': scene.bars.length: '9' is out of range; allowed: an "
        "integer from 2 to 8");
  CHECK(contains(fault({"scene.bars.lenght=3"}), "did you mean 'scene.bars.length'?"));
  CHECK(contains(fault({"scene.bars=3"}), "'scene.bars' is a section; its keys: length"));
  CHECK(contains(fault({"scene.kind=baars"}), "did you mean 'bars'?"));
  const Config other = read_config(tiny.yaml, Overrides{"scene.bars.length=3"});
  REQUIRE(other.unused.size() == 1);
  CHECK(other.unused[0].reason == "scene.kind is cluttered");

  Config by_json = config;
  read_json(world_settings(by_json), R"({"scene.bars.length": 8})");
  CHECK(by_json.scene.own.get<int>("scene.bars.length") == 8);
  const Overrides few = {"data.source=few", "data.path=null", "data.few.digits=30"};
  const Config of_few = read_config(tiny.yaml, few);
  SharedDatasets digits;
  CHECK(digits.load(of_few.data)->train.size() == 25);
  const auto kept = digits.load(of_few.data);
  CHECK(digits.load(read_config(tiny.yaml, with(few, {"data.few.digits=60"})).data) != kept);
}

TEST_CASE("registered rewards, sources, optimisers, cores and scores train together") {
  const TinyExperiment tiny;
  const Overrides own = {"data.source=few",
                         "data.path=null",
                         "scene.canvas=[32, 32]",
                         "reinforce.reward=part",
                         "training.optimizer=descend",
                         "model.core=gru_again",
                         "attention.hidden.kind=attend",
                         "attention.hidden.score=pairwise_dot"};
  const fs::path run = tiny.train("own", own);
  const double error = read_json(run / "summary.json")["test/error"].get<double>();
  CHECK(error >= 0.0);
  CHECK(error <= 1.0);
  check_contains(bytes_of(run / "config.yaml"), {"reward: part", "share: 0.5", "power: 1"});
  for (const char* setting :
       {"reinforce.part.share=0.1", "training.descend.power=0.5", "data.few.digits=80"}) {
    CAPTURE(setting);  // each changes what is learned
    const fs::path other = tiny.train(setting, with(own, {setting}));
    CHECK(bytes_of(other / kLast) != bytes_of(run / kLast));
  }
  const Overrides calm = {"reinforce.reward=calm"};
  CHECK(bytes_of(tiny.train("calm", calm) / kLast) !=
        bytes_of(tiny.train("calmer", with(calm, {"reinforce.calm.pay=1"})) / kLast));
}

TEST_CASE("the gradient of a registered way of looking is the slope") {
  AgentConfig config = busy_config("gru");
  config.glimpse.kind = "scanpath";
  check_slopes(config);
}

TEST_CASE("a registered way of looking learns, by its settings, and is tested and recorded") {
  const TinyExperiment tiny;
  const Overrides own = {"attention.glimpse.kind=scanpath", "reinforce.reward=correct"};
  const fs::path run = tiny.train("scan", own);
  check_contains(bytes_of(run / "config.yaml"), {"kind: scanpath", "reach: 0.8"});
  const fs::path near = tiny.train("near", with(own, {"attention.glimpse.scanpath.reach=0.2"}));
  CHECK(bytes_of(near / kLast) != bytes_of(run / kLast));
  CHECK(contains(message_of<InputError>([&] {
                   read_config(tiny.yaml, with(own, {"attention.glimpse.moves=relative"}));
                 }),
                 "attention.glimpse.moves"));
}

TEST_CASE("the example's program runs, tests, records, compares and describes its kinds") {
  const TinyExperiment tiny;
  const std::string own = bytes_of(fs::path(OWN_KINDS_FOLDER) / "bars.yaml");
  put_bytes(tiny.path / "bars.yaml", own);
  const auto done = [&](const CommandWords& words) {
    const Program::Result result = run_bars(tiny.path, words);
    CAPTURE(words);
    CHECK(result.code == 0);
    return result.out;
  };
  check_contains(done({"--help"}), {"run", "compare"});
  CHECK(done({"settings", "scene.bars.length"}) ==
        "scene.bars.length: 5\n    Length of the bar, in pixels\n    allowed: an integer from 2 to "
        "8\n    has an effect with scene.kind: bars\n");
  const auto schema = nlohmann::json::parse(done({"settings", "--schema"}));
  const auto& scene = schema["properties"]["scene"]["properties"];
  CHECK(scene["bars"]["properties"]["length"]["anyOf"][0]["maximum"] == 8);
  CHECK(scene["kind"]["enum"].back() == "bars");
  CHECK(contains(done({"man"}), "scene.bars.length"));
  CHECK(contains(done({"completion", "bash"}), "scene.bars.length="));
  done({"run", "bars.yaml", "training.episodes=2560", "evaluation.scenes=64", "--out", "short",
        "--quiet"});
  CHECK(contains(bytes_of(tiny.path / "short/config.yaml"), "score: distance"));
  CHECK(nlohmann::json::parse(done({"eval", "short", "--json"})).contains("test/error"));
  done({"record", "short", "--out", "looks.gif"});
  CHECK(fs::exists(tiny.path / "looks.gif"));
  done({"compare", "short", "--out", "report.html"});

  const Program::Result stranger = run_saccade(tiny.path, {"eval", "short"});
  CHECK(stranger.code == 2);
  CHECK(contains(stranger.err, "scene.kind: 'bars' is unknown"));
  const Program::Result wrong = run_bars(tiny.path, {"run", "bars.yaml", "scene.bars.length=1"});
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.err, "scene.bars.length: '1' is out of range"));
}

}  // namespace saccade
