#include "experiments/evaluation/evaluator.h"

#include <algorithm>
#include <cmath>

#include "attention/policy.h"
#include "experiments/runs/study.h"
#include "tests/experiments/evaluated_looks.h"
#include "tests/thread_ranks.h"

namespace saccade {

TEST_CASE("draws show the same digits at other places, and identical scenes are shown once") {
  const TinyTask tiny;
  const int digits = tiny.task.digits.test.size();
  EvaluationConfig evaluation = tiny.task.config.evaluation;
  evaluation.scenes = digits;
  CHECK(tiny.task.test_scenes(evaluation) == digits);
  evaluation.draws = 3;
  CHECK(tiny.task.test_scenes(evaluation) == 3 * digits);
  const Evaluation found = tiny.evaluate(3 * digits, 2);
  CHECK(found.scenes == 3 * digits);
  CHECK(found.images == digits);

  const TinyTask centered({"scene.kind=centered", "scene.num_distractors=0"});
  CHECK(centered.task.test_scenes(evaluation) == digits);
  const TinyTask pairs({"scene.kind=centered", "scene.num_distractors=0", "scene.num_digits=2",
                        "scene.canvas=[13, 40]"});
  evaluation.scenes = 10'000;
  CHECK(pairs.task.test_scenes(evaluation) == digits / (digits % 2 == 0 ? 2 : 1));

  // A bag places its digits in tiles.
  const TinyTask bag(
      {"scene.kind=bag", "scene.num_distractors=0", "scene.num_digits=2", "scene.canvas=[13, 40]"});
  CHECK(bag.task.test_scenes(evaluation) == digits / (digits % 2 == 0 ? 2 : 1));
  const Task words(read_study("digits_to_words", {"scene.max_number=999"}).runs[0].config);
  CHECK(words.test_scenes(evaluation) == 100);
}

TEST_CASE("an evaluation does not depend on the number of workers, and is reproducible") {
  const TinyTask tiny;
  for (const bool sampled : {false, true})
    for (const int scenes : {1, 99, 100, 101, 250}) {
      CAPTURE(sampled);
      CAPTURE(scenes);
      const PassRequest request{
          .sampling = sampled ? SamplingMode::sample : SamplingMode::deterministic,
          .passes = sampled ? 2 : 1};
      const Evaluation one = tiny.evaluate(scenes, 1, request);
      CHECK(one.scenes == scenes);
      for (const int threads : {1, 2, 3, 8})
        check_equal(tiny.evaluate(scenes, threads, request), one);
    }
}

TEST_CASE("ranks share an evaluation and all get the result of a single process") {
  const TinyTask tiny;
  const PassRequest request{.sampling = SamplingMode::sample, .passes = 2, .details = true};
  for (const int scenes : {50, 250, 301}) {
    const Evaluation one = tiny.evaluate(scenes, 1, request);
    for (const int count : {2, 3, 4}) {
      std::vector<Evaluation> results(count);
      on_ranks(count, [&](Ranks& ranks) {
        Workers workers(1);
        Evaluator evaluator(tiny.task.model, tiny.task.environments(Split::test), scenes,
                            TinyTask::kSeed, workers, ranks);
        evaluator.run(flat(tiny.weights), {});
        results[ranks.rank()] = evaluator.run(flat(tiny.weights), request);
      });
      for (const Evaluation& result : results) {
        CAPTURE(scenes);
        CAPTURE(count);
        check_equal(result, one);
      }
    }
  }
}

TEST_CASE("an evaluator keeps nothing of the previous pass") {
  const TinyTask tiny;
  Workers workers(2);
  Evaluator evaluator(tiny.task.model, tiny.task.environments(Split::test), 150, TinyTask::kSeed,
                      workers);
  const Evaluation first = evaluator.run(flat(tiny.weights), {});
  const Evaluation sampled =
      evaluator.run(flat(tiny.weights), {.sampling = SamplingMode::sample, .passes = 3});
  CHECK(sampled.distance != first.distance);
  check_equal(evaluator.run(flat(tiny.weights), {}), first);
  check_equal(tiny.evaluate(150, 1), first);
}

TEST_CASE("an evaluation with fewer scenes than digits draws them by its own seed") {
  const TinyTask tiny({"evaluation.scenes=12"});  // of 20 test digits with alternating classes
  const auto labels = [&](const EnvironmentFactory& environments) {
    const auto environment = environments(12, 1);
    environment->reset(0);
    std::vector<int> all;
    for (const SceneFacts& facts : environment->facts()) all.push_back(facts.label);
    return all;
  };
  std::vector<int> in_order(12);
  for (int n = 0; n < 12; ++n) in_order[n] = n % 3;
  EvaluationConfig evaluation = tiny.task.config.evaluation;
  const std::vector<int> drawn = labels(tiny.task.environments(Split::test));
  CHECK(drawn != in_order);
  CHECK(labels(tiny.task.environments(Split::test, evaluation)) == drawn);
  evaluation.seed += 1;
  CHECK(labels(tiny.task.environments(Split::test, evaluation)) != drawn);
  evaluation.scenes = 20;
  CHECK(labels(tiny.task.environments(Split::test, evaluation)) == in_order);
}

TEST_CASE("the deterministic pass counts the same as one batch of all scenes") {
  for (const Overrides& overrides :
       {Overrides{}, Overrides{"scene.num_digits=2"}, Overrides{"attention.glimpse.kind=scan"},
        Overrides{"scene.num_digits=2", "scene.label=pair", "attention.glimpse.kind=center"}}) {
    CAPTURE(overrides.size());
    const TinyTask tiny(overrides);
    const Evaluation found = tiny.evaluate(250, 2);
    const auto batch = tiny.play(250);
    CHECK(found.error == doctest::Approx(error_of(*batch)));
    CHECK(found.error > 0.0);
    CHECK(found.images < 250);
    CHECK(found.error_low < found.error);
    CHECK(found.error_high >= found.error);
    check_looks(found, Looks(*batch));
  }
}

TEST_CASE("looks at moving digits are compared with where the digits were at that moment") {
  const TinyTask tiny({"scene.kind=catch", "scene.canvas=[8, 9]", "scene.num_distractors=0",
                       "attention.glimpse.num_glimpses=9"});
  const Evaluation follows = tiny.evaluate(100, 2, {.policy = find_policy("oracle")});
  CHECK(follows.on_target == doctest::Approx(1.0));
  CHECK(follows.distance == doctest::Approx(0.0));
  CHECK(follows.coverage == doctest::Approx(1.0));
  const Evaluation stays = tiny.evaluate(100, 2, {.policy = find_policy("center")});
  CHECK(stays.on_target < 0.2);
  CHECK(stays.distance > 0.3);
  CHECK(stays.coverage < 0.8);
}

TEST_CASE("passes average the class probabilities and the shares of their looks") {
  const TinyTask tiny({"attention.glimpse.std=0.6"});
  constexpr int kScenes = 130, kPasses = 5;
  const PassRequest request{.sampling = SamplingMode::sample, .passes = kPasses};
  const int classes = tiny.task.model.num_classes();
  std::vector<double> probability(kScenes * classes);
  std::vector<int> labels;
  double border = 0.0, distance = 0.0;
  double single_error = 0.0;
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto batch = tiny.play(kScenes, request, pass);
    labels.clear();
    for (int b = 0; b < kScenes; ++b) labels.push_back(batch->answer->labels(b)[0]);
    const ConstMatrix p = step(batch->answer->probabilities, 2);
    for (int b = 0; b < kScenes; ++b)
      for (int c = 0; c < classes; ++c) probability[b * classes + c] += p(b, c);
    single_error += error_of(*batch) / kPasses;
    const Looks looks(*batch);
    border += looks.border / kPasses;
    distance += looks.distance / kPasses;
  }
  double error = 0.0;
  for (int b = 0; b < kScenes; ++b) {
    const auto first = probability.begin() + b * classes;
    if (std::max_element(first, first + classes) - first != labels[b]) error += 1.0 / kScenes;
  }
  const Evaluation found = tiny.evaluate(kScenes, 2, request);
  CHECK(found.error == doctest::Approx(error));
  CHECK(found.border == doctest::Approx(border));
  CHECK(found.distance == doctest::Approx(distance));
  REQUIRE(error != doctest::Approx(single_error));  // not the mean of the passes' errors
}

TEST_CASE("no kind of glimpse or model depends on the number of workers") {
  std::vector<Overrides> models = {with_model("mlp"), with_model("cnn")};
  for (const std::string& kind : glimpse_kinds()) models.push_back(with_kind(kind));
  models.push_back(with_kind("soft_grid", {"attention.glimpse.expect=pixels"}));
  models.push_back(with_kind("soft_grid", {"attention.glimpse.addressing=location"}));
  models.push_back(with_kind("hard_categorical", {"attention.glimpse.addressing=content"}));
  for (const Overrides& overrides : models) {
    CAPTURE(overrides.front());
    const TinyTask tiny(overrides);
    for (const PassRequest& request :
         {PassRequest{}, PassRequest{.sampling = SamplingMode::sample, .passes = 2},
          PassRequest{.sampling = SamplingMode::argmax},
          PassRequest{.policy = find_policy("random")}, PassRequest{.shuffled = true}}) {
      const Evaluation one = tiny.evaluate(230, 1, request);
      CHECK(one.error > 0.0);
      CHECK(one.error < 1.0);
      CHECK(std::isfinite(one.entropy));
      CHECK(one.coverage >= 0.0);
      CHECK(one.coverage <= 1.0);
      check_equal(tiny.evaluate(230, 3, request), one);
    }
  }
}

TEST_CASE("a model that reads the canvas has no looks") {
  for (const std::string kind : {"mlp", "cnn"}) {
    const Evaluation found = TinyTask(with_model(kind)).evaluate(120, 2);
    CHECK(found.on_target == 0.0);
    CHECK(found.on_target_by_glimpse == std::vector<double>(1));
    CHECK(found.border == 0.0);
    CHECK(found.distance == 0.0);
    CHECK(found.coverage == 0.0);
    CHECK(found.entropy == 0.0);
  }
}

TEST_CASE("soft attention can be evaluated by its most probable candidate or by sampling") {
  const TinyTask tiny(
      with_kind("soft_grid", {"attention.glimpse.first=learned",
                              "attention.glimpse.temperature=0.3", "retina.patch_size=3"}));
  constexpr int kScenes = 100, kCandidates = 6;
  std::vector<std::vector<float>> seen;
  for (const SamplingMode sampling : {SamplingMode::training, SamplingMode::deterministic,
                                      SamplingMode::argmax, SamplingMode::sample}) {
    const PassRequest request{.sampling = sampling};
    const auto batch = tiny.play(kScenes, request);
    const ConstMatrix p = matrix(batch->look->decisions), w = matrix(batch->look->actions);
    int most_probable = 0;
    for (int r = 0; r < p.rows; ++r) {
      const float* row = w.row(r);
      if (sampling == SamplingMode::training || sampling == SamplingMode::deterministic) {
        CHECK(std::equal(row, row + kCandidates, p.row(r)));
        continue;
      }
      CHECK(std::count(row, row + kCandidates, 1.0F) == 1);
      CHECK(std::count(row, row + kCandidates, 0.0F) == kCandidates - 1);
      const auto choice = std::max_element(row, row + kCandidates) - row;
      most_probable +=
          p(r, static_cast<int>(choice)) == *std::max_element(p.row(r), p.row(r) + kCandidates);
    }
    if (sampling == SamplingMode::argmax) CHECK(most_probable == p.rows);
    if (sampling == SamplingMode::sample) CHECK(most_probable < p.rows);
    const Evaluation found = tiny.evaluate(kScenes, 2, request);
    CHECK(found.error == doctest::Approx(error_of(*batch)));
    // Of a one-hot look, the location is its candidate.
    if (sampling == SamplingMode::argmax || sampling == SamplingMode::sample)
      check_looks(found, Looks(*batch));
    seen.emplace_back(w.data, w.data + static_cast<std::ptrdiff_t>(w.rows) * w.cols);
  }
  CHECK(seen[0] == seen[1]);
  CHECK(seen[1] != seen[2]);
  CHECK(seen[2] != seen[3]);
}

TEST_CASE("a grid that does not fit is refused when the task is made") {
  const TinyExperiment tiny;
  const auto fault = [&](const Overrides& overrides) {
    return message_of<InputError>([&] { Task(read_config(tiny.yaml, overrides)); });
  };
  for (const std::string kind : {"hard_categorical", "soft_grid"}) {
    const std::string kind_is = "attention.glimpse.kind=" + kind;
    CHECK(fault({kind_is}) == "nothing thrown");  // one that covers the canvas
    CHECK(fault({kind_is, "attention.glimpse.grid=[9, 9]"}) ==
          "attention.glimpse.grid: [9, 9] candidates 6 pixels apart (attention.glimpse.stride) "
          "span 48 pixels; allowed: at most the canvas (13 x 15)");
    CHECK(fault({kind_is, "attention.glimpse.tiles=[1, 2]"}) ==
          "attention.glimpse.tiles: [1, 2] do not part a canvas of 13 x 15 pixels; allowed: "
          "divisors of its sides");
    CHECK(fault({kind_is, "attention.glimpse.tiles=[13, 5]"}) == "nothing thrown");
  }
  CHECK(fault({"attention.glimpse.kind=scan"}) == "nothing thrown");  // has no grid
}

TEST_CASE("the synthetic digits make a task without any data") {
  const Task task(parse_config("data: {source: synthetic}\nmodel: {hidden_size: 4}", "x.yaml"));
  CHECK(task.model.num_classes() == 10);
  CHECK(task.digits.train.rows() == 28);
  Workers workers(2);
  Tensor<1> weights = zeros<1>(task.model.layout().size());
  task.model.layout().initialize(flat(weights), 1);
  Evaluator evaluator(task.model, task.environments(Split::valid), 100, 777, workers);
  CHECK(evaluator.run(flat(weights), {}).error > 0.5);
}

}  // namespace saccade
