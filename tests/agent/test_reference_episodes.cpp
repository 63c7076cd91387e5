// Whole episodes against PyTorch (tests/reference/episodes.py): actions, observations, predictions,
// every loss term, and the gradient of every parameter. Plays every episode_*.safetensors in the
// folder, and every kind in the tables must occur in one of them.
#include <doctest/doctest.h>

#include <set>

#include "agent/credit/reward.h"
#include "agent/learning/learner.h"
#include "tests/agent/agents.h"
#include "tests/agent/fixture.h"

namespace saccade {
namespace {

// The names of all episode fixtures, in order.
std::vector<std::string> every_fixture() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(reference_folder())) {
    const std::string name = entry.path().stem();
    if (name.starts_with("episode_")) names.insert(name);
  }
  return {names.begin(), names.end()};
}

ObservationSpec spec_of(const Fixture& fixture) {
  const auto number = [&](const std::string& name, int otherwise) {
    const auto found = fixture.metadata().find("sight." + name);
    return found == fixture.metadata().end() ? otherwise : std::stoi(found->second);
  };
  const std::string answer = fixture.metadata().at("sight.answer");
  ObservationSpec spec{.num_classes = number("classes", 0),
                       .canvas = {number("channels", 1), number("rows", 0), number("cols", 0)},
                       .patch_size = number("patch", 1),
                       .answer = answer == "sequence"  ? AnswerKind::sequence
                                 : answer == "actions" ? AnswerKind::actions
                                                       : AnswerKind::one_class,
                       .max_symbols = number("symbols", 0)};
  for (const char* seen : {"glimpse", "candidate"})
    if (fixture.has(seen)) spec.glimpse_size = fixture.size(seen, 2);
  if (const int scales = number("scales", 0); scales > 0)
    spec.glimpse_size = scales * spec.canvas.channels * spec.patch_size * spec.patch_size;
  return spec;
}

// Returns the observations of the fixture: the glimpse of each step wherever it is asked to look,
// or that of a candidate, or the canvas; between pixels, a retina's view of the canvas.
class ReplayEnvironment final : public Environment {
 public:
  explicit ReplayEnvironment(const Fixture& fixture)
      : fixture_(fixture),
        spec_(spec_of(fixture)),
        zoom_(zoom_of(config_of(fixture))),
        facts_(fixture.size("probability", 1)) {
    for (std::size_t b = 0; b < facts_.size(); ++b) {
      if (fixture.has("label")) facts_[b].label = static_cast<int>(fixture["label"][b]);
      if (fixture.has("length")) facts_[b].length = static_cast<int>(fixture["length"][b]);
      if (fixture.has("target")) {
        const float* target = fixture.matrix("target").row(static_cast<int>(b));
        facts_[b].regions[0].x = target[0];
        facts_[b].regions[0].y = target[1];
      }
      if (!fixture.has("symbol")) continue;
      facts_[b].num_symbols = static_cast<int>(fixture["count"][b]);
      const float* symbols = fixture.matrix("symbol").row(static_cast<int>(b));
      std::copy_n(symbols, facts_[b].num_symbols, facts_[b].symbols.begin());
    }
  }
  int episodes() const override { return static_cast<int>(facts_.size()); }
  int glimpse_size() const override { return spec_.glimpse_size; }
  int location_size() const override { return zoom_.is_point() ? 2 : 3; }
  int num_classes() const override { return spec_.num_classes; }
  CanvasSize canvas() const override { return spec_.canvas; }
  AnswerKind answer_kind() const override { return spec_.answer; }
  int max_symbols() const override { return spec_.max_symbols; }
  std::span<const SceneFacts> facts() const override { return facts_; }

 private:
  void begin(std::uint64_t) override { looks_ = acts_ = 0; }
  void observe(ConstMatrix locations, Matrix glimpses) override {
    if (fixture_.has("glimpse"))
      return copy(glimpses,
                  fixture_.matrix("glimpse").row_range(looks_++ * episodes(), episodes()));
    const ConstMatrix candidates = fixture_.matrix("candidate");
    for (int b = 0; b < episodes(); ++b) {
      const int k = find_place(locations.row(b));
      std::copy_n(candidates.row(b * fixture_.size("place", 0) + k), glimpses.cols,
                  glimpses.row(b));
    }
  }
  void observe_all(ConstMatrix places, Matrix glimpses, int first) override {
    CHECK(relative_error(values_of(places), fixture_["place"]) < kTolerance);
    copy(glimpses, fixture_.matrix("candidate").row_range(first * places.rows, glimpses.rows));
  }
  void observe_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes) override {
    const auto [channels, rows, cols] = spec_.canvas;
    const int scales = std::stoi(fixture_.metadata().at("sight.scales"));
    const Retina retina({.patch_size = spec_.patch_size, .scales = scales}, rows, cols, channels,
                        zoom_);
    const ConstMatrix canvases = fixture_.matrix("canvas");
    const int moment = std::min(acts_, canvases.rows / episodes() - 1);
    std::vector<std::uint8_t> bytes(canvases.cols);
    for (int b = 0; b < episodes(); ++b) {
      std::vector<std::byte> prepared(retina.prepared_size());
      const float* pixels = canvases.row(moment * episodes() + b);
      for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(std::lround(255.0F * pixels[i]));
      retina.prepare(bytes, prepared);
      if (retina.zooms())
        retina.look_zoomed(prepared, locations.row(b), glimpses.row(b), slopes.row(b));
      else
        retina.look_smoothly(prepared, locations(b, 0), locations(b, 1), glimpses.row(b),
                             slopes.row(b));
    }
  }
  void observe_canvases(Matrix canvases) override { copy(canvases, fixture_.matrix("canvas")); }
  void advance(std::span<const int> actions, std::span<float> rewards) override {
    for (int b = 0; b < episodes(); ++b)
      rewards[b] = fixture_.matrix("earned").row(acts_ * episodes() + b)[actions[b]];
    ++acts_;
  }

  int find_place(const float* location) const {
    const ConstMatrix places = fixture_.matrix("place");
    for (int k = 0; k < places.rows; ++k)
      if (std::hypot(places(k, 0) - location[0], places(k, 1) - location[1]) < 1e-5F) return k;
    FAIL("a look at no candidate");
    return 0;
  }

  const Fixture& fixture_;
  ObservationSpec spec_;
  LogRange zoom_;
  std::vector<SceneFacts> facts_;
  int looks_ = 0, acts_ = 0;
};

void check_fixture_forward(const Fixture& fixture, const Rollout& rollout) {
  const int steps = rollout.core.steps, batch = rollout.episodes();
  const Tensor<3>& input = rollout.core.input;  // (T + 1, B, F + H)
  std::vector<float> states;
  for (int t = 1; t <= steps; ++t)
    for (const float h :
         values_of(step(input, t).columns(rollout.core.features, rollout.core.hidden)))
      states.push_back(h);
  CHECK(relative_error(states, fixture["state"]) < kTolerance);
  CHECK(relative_error(flat(rollout.answer->probabilities), fixture["probability"]) < kTolerance);
  if (fixture.has("decision")) {
    CHECK(relative_error(flat(rollout.look->decisions), fixture["decision"]) < kTolerance);
    CHECK(relative_error(flat(rollout.look->locations), fixture["location"]) < kTolerance);
  }
  Tensor<2> returns = zeros<2>(steps, batch);
  Tensor<2> step_rewards = returns;
  rollout.answer->step_rewards(matrix(step_rewards));
  const bool acts = spec_of(fixture).answer == AnswerKind::actions;
  discounted_returns(matrix(returns), matrix(step_rewards),
                     trace_of(config_of(fixture).reinforce, acts).of_returns,
                     rollout.answer->stop_credit().chances);
  CHECK(relative_error(flat(returns), fixture["returns"]) < kTolerance);
}

void check_fixture_sums(const Fixture& fixture, const LossSums& sums) {
  const std::vector<double> ours = {sums.classifier, sums.reinforce, sums.baseline, sums.penalty};
  REQUIRE(fixture["sums"].size() == ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CAPTURE(i);
    CHECK(ours[i] == doctest::Approx(fixture["sums"][i]).epsilon(kTolerance));
  }
  CHECK(sums.entropy == doctest::Approx(fixture["entropy"][0]).epsilon(kTolerance));
}

TEST_CASE("whole episodes agree with PyTorch: every loss term, detached where it must be") {
  for (const std::string& name : every_fixture()) {
    CAPTURE(name);
    const Fixture fixture(name);
    const AgentConfig config = config_of(fixture);
    const Model model(config, spec_of(fixture));
    const Tensor<1> parameters = fixture.parameters(model.layout());
    CHECK(model.layout().parameters().size() == fixture.num_parameters());

    // The policy's actions, for hard kinds.
    Tensor<3> action;
    if (fixture.has("action")) {
      action =
          zeros<3>(fixture.size("action", 0), fixture.size("action", 1), fixture.size("action", 2));
      std::ranges::copy(fixture["action"], action.begin());
    }
    Tensor<2> stops;  // decisions of a sampled stop
    if (fixture.has("stop")) {
      stops = zeros<2>(fixture.size("stop", 0), fixture.size("stop", 1));
      std::ranges::copy(fixture["stop"], stops.begin());
    }
    const bool acts = spec_of(fixture).answer == AnswerKind::actions;
    Lane lane(model, std::make_unique<ReplayEnvironment>(fixture));
    Tensor<1> gradient = zeros<1>(model.layout().size());
    const LossSums sums = lane.run(
        flat(gradient), flat(parameters),
        {.progress = 0.0,
         .sampling = acts ? SamplingMode::deterministic : SamplingMode::training,
         .replay = fixture.has("action") ? &action : nullptr,
         .stops = fixture.has("stop") ? &stops : nullptr,
         .classify_every_step = true},
        std::vector<double>(model.num_glimpses(), fixture.number("request.average_reward")),
        static_cast<int>(fixture.number("request.batch_size")));
    check_fixture_forward(fixture, lane.rollout());
    check_fixture_sums(fixture, sums);
    fixture.check_gradients(gradient, model.layout());
  }
}

// ---- Every kind has a fixture ----

using NameSet = std::set<std::string>;

// Of looking: two configurations with the same key look in the same way.
std::string kind_of_look(AgentConfig config) {
  if (config.model.kind != "recurrent") return config.model.kind;
  settle(config.glimpse);
  const GlimpseConfig& glimpse = config.glimpse;
  const bool content = glimpse.addressing == "content";
  return glimpse.kind + " " + glimpse.addressing + " " + (content ? glimpse.score : "") + " " +
         glimpse.expect + " " + config.model.context + " " + config.model.glimpse_network + " " +
         glimpse.moves;
}

bool is_learned(const AgentConfig& config) {
  const GlimpseKind& kind = find_glimpse_kind(config.glimpse.kind);
  return config.model.kind != "recurrent" || !kind.sees_motion ||
         kind.learning != GlimpseKind::Learning::none;
}

std::string area_of(const AttendConfig& attend) {
  return attend.area == "local" ? "local, " + attend.position : attend.area;
}

NameSet wanted() {
  NameSet names;
  const auto add = [&](const std::string& what, const std::vector<std::string>& kinds) {
    for (const std::string& kind : kinds) names.insert(what + kind);
  };
  for (const NamedAgent& agent : every_agent(tiny_config()))
    if (is_learned(agent.config)) names.insert("look: " + kind_of_look(agent.config));
  add("core: ", core_kinds());
  add("first: ", first_glimpses());
  add("stop: ", stop_kinds());
  add("order: ", reading_orders());
  add("input: ", input_kinds());
  add("read: ", hidden_kinds());
  add("output: ", hidden_outputs());
  for (const std::string& score : score_kinds()) {
    names.insert("decoder score: " + score);
    for (const std::string& query : hidden_queries())
      if (score_needs_query(score) != (query == "none"))
        names.insert("read score: " + score + " of " + query);
  }
  for (const std::string& core : recurrent_core_kinds())
    for (const std::string& hidden : hidden_kinds())
      if (hidden_reads_a_state(hidden)) names.insert("decoder: " + core + ", " + hidden);
  for (const std::string& area : attention_areas()) {
    if (area != "local") names.insert("area: " + area);
    if (area == "local") add("area: local, ", attention_positions());
  }
  add("advantage: ", advantage_estimators());
  add("critic: ", critic_kinds());
  add("estimator: ", location_estimators());
  add("reward: ", judged_rewards());
  return names;
}

void add_kinds(NameSet& names, const Fixture& fixture) {
  const AgentConfig config = config_of(fixture);
  const AttendConfig& attend = config.hidden.attend;
  const bool attends = config.hidden.kind == "attend";
  const AnswerKind answer = spec_of(fixture).answer;
  names.insert({"look: " + kind_of_look(config), "core: " + config.model.core,
                "first: " + config.glimpse.first, "order: " + config.glimpse.order,
                "stop: " + config.glimpse.stop, "input: " + config.input.kind,
                "critic: " + config.reinforce.critic, "advantage: " + config.reinforce.advantage,
                "estimator: " + config.reinforce.estimator, "reward: " + config.reinforce.reward});
  if (answer == AnswerKind::one_class) {
    names.insert("read: " + config.hidden.kind);
    if (attends) {
      names.insert("output: " + config.hidden.output);
      names.insert("read score: " + attend.score + " of " + config.hidden.query);
      names.insert("area: " + area_of(attend));
    }
  }
  if (answer == AnswerKind::sequence) {
    names.insert("decoder: " + config.decoder.core + ", " + config.hidden.kind);
    if (attends) names.insert("decoder score: " + attend.score);
  }
}

TEST_CASE("every kind has a fixture") {
  NameSet names;
  for (const std::string& name : every_fixture()) add_kinds(names, Fixture(name));
  for (const std::string& kind : wanted()) {
    CAPTURE(kind);
    CHECK(names.contains(kind));
  }
}

}  // namespace
}  // namespace saccade
