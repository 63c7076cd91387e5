#include "experiments/evaluation/test_report.h"

#include "tests/experiments/tiny_task.h"

namespace saccade {

TEST_CASE("a test report consists of evaluations of the same weights") {
  struct Row {
    Metric metric;
    PassRequest request;
  };
  const Row sampled = {"test/error_sampled", {.sampling = SamplingMode::sample}};
  const Row averaged = {"test/error_averaged", {.sampling = SamplingMode::sample, .passes = 4}};
  const Row argmax = {"test/error_argmax", {.sampling = SamplingMode::argmax}};
  const Row shuffled = {"test/error_shuffled", {.shuffled = true}};
  const Row center = {"test/error_center", {.policy = find_policy("center")}};
  const Row random = {"test/error_random", {.policy = find_policy("random")}};
  const struct {
    Overrides overrides;
    std::vector<Row> rows;
  } models[] = {
      {{"attention.glimpse.std=0.5"},
       {{"test/error", {.details = true}}, sampled, averaged, shuffled, center, random}},
      {kSoftGrid,
       {{"test/error", {.details = true}}, sampled, averaged, argmax, shuffled, center, random}},
      {{"attention.glimpse.kind=soft_gaussian"},
       {{"test/error", {.details = true}}, shuffled, center, random}},
      {{"model.kind=mlp"}, {{"test/error", {.details = true}}}}};
  for (const auto& [overrides, rows] : models) {
    CAPTURE(overrides.front());
    const TinyTask tiny(overrides);
    Workers workers(2);
    Evaluator evaluator(tiny.task.model, tiny.task.environments(Split::test), 150, TinyTask::kSeed,
                        workers);
    const TestReport report =
        test_agent(tiny.task.model, flat(tiny.weights), evaluator, {.rollouts = 4});
    REQUIRE(report.passes.size() == rows.size());
    const MetricValues metrics = to_metrics(report, tiny.task.model);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Evaluation expected = tiny.evaluate(150, 1, rows[i].request);
      check_equal(report.passes[i].result, expected);
      CHECK(metrics.at(rows[i].metric) == expected.error);
      CHECK(metrics.at(rows[i].metric.low()) == expected.error_low);
      CHECK(metrics.at(rows[i].metric.high()) == expected.error_high);
    }
    CHECK(metrics.at("test/scenes") == 150);
    CHECK(metrics.contains("attention/on_target") == (rows.size() > 1));
    if (rows.size() == 1) continue;
    CHECK(metrics.at("attention/on_target") == report.deterministic().on_target);
    CHECK(metrics.at("attention/on_target_random") == report.passes.back().result.on_target);
    CHECK(metrics.at("attention/border") == report.deterministic().border);
    CHECK(metrics.at("attention/distance") == report.deterministic().distance);
    CHECK(metrics.at("attention/coverage") == report.deterministic().coverage);
    CHECK(metrics.at("attention/entropy") == report.deterministic().entropy);
  }
}

TEST_CASE("a test table shows per cent") {
  Evaluation first;
  first.scenes = 10'000;
  first.error = 0.0263;
  first.error_low = 0.02334;
  first.error_high = 0.0296;
  first.on_target = 0.875;
  Evaluation second;
  second.error = 1.0;
  second.error_low = 0.99128;
  second.error_high = 1.0;
  const TestPass passes[] = {{"single deterministic pass", "test/error", {}, first},
                             {"random policy, same weights", "test/error_random", {}, second}};
  const TinyTask looks, sees_all({"model.kind=mlp"});
  CHECK(to_text(to_table({{passes[0], passes[1]}}, looks.task.model)) ==
        "  test, 10000 scenes               error   95 % interval      on digit\n"
        "  single deterministic pass       2.63 %   [2.33, 2.96]         87.5 %\n"
        "  random policy, same weights   100.00 %   [99.13, 100.00]       0.0 %\n");
  CHECK(to_text(to_table({{passes[0]}}, sees_all.task.model)) ==
        "  test, 10000 scenes               error   95 % interval\n"
        "  single deterministic pass       2.63 %   [2.33, 2.96]\n");
}

TEST_CASE("a test table has the columns of sequences, actions and attention over states") {
  Evaluation e;
  e.scenes = 100;
  e.error = 0.25;
  e.symbol_error = 0.125;
  e.on_answer = 0.5;
  const TestReport report{{{"single deterministic pass", "test/error", {}, e}}};
  const TinyTask words({"scene.kind=digits_to_words", "attention.glimpse.kind=whole",
                        "scene.num_distractors=0", "attention.hidden.kind=attend"});
  CHECK(to_text(to_table(report, words.task.model)) ==
        "  test, 100 scenes                 error   95 % interval   by symbol\n"
        "  single deterministic pass      25.00 %   [0.00, 0.00]      12.50 %\n");
  CHECK(to_metrics(report, words.task.model).at("test/symbol_error") == 0.125);
  CHECK(!to_metrics(report, words.task.model).contains("attention/on_answer"));

  const TinyTask attends({"attention.hidden.kind=mean"});
  CHECK(to_text(to_table(report, attends.task.model))
            .ends_with("attention over states: 50.0 % on the answer\n"));
  CHECK(to_metrics(report, attends.task.model).at("attention/on_answer") == 0.5);

  const TinyTask acts({"scene.kind=catch", "scene.canvas=[8, 9]", "scene.num_distractors=0",
                       "attention.glimpse.num_glimpses=7"});
  CHECK(to_text(to_table(report, acts.task.model)).find("missed") != std::string::npos);
  CHECK(to_metrics(report, acts.task.model).at("test/earned") == 0.75);
}

}  // namespace saccade
