#include "attention/score.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "tests/attention/naive_attend.h"
#include "tests/attention/parameter_gradients.h"
#include "tests/attention/score_names.h"
#include "tests/guarded_matrix.h"
#include "tests/support.h"

namespace saccade {
namespace {

struct ScoreSizes {
  int query, key, hidden, episodes, keys, steps, first;
};

/// The sizes that every score of a kind is tested with.
std::vector<ScoreSizes> sizes_of(const std::string& kind) {
  std::vector<ScoreSizes> all = {{1, 1, 1, 1, 1, 1, 0},   {3, 3, 2, 2, 5, 3, 0},
                                 {19, 19, 9, 2, 9, 3, 1}, {16, 16, 16, 3, 4, 2, 1},
                                 {5, 5, 4, 2, 3, 2, 2},   {35, 35, 17, 1, 17, 2, 0}};
  if (!score_needs_equal_widths(kind)) {
    all.push_back({7, 18, 5, 2, 10, 4, 2});
    all.push_back({20, 3, 33, 3, 2, 2, 0});
  }
  if (!score_needs_query(kind)) all.push_back({0, 6, 7, 3, 5, 3, 1});
  return all;
}

/// A score with parameters, queries, keys and their gradients, all random.
struct ScoreSituation {
  ScoreSituation(const std::string& kind_, const ScoreSizes& sizes_,
                 KeyOrder order_ = KeyOrder::by_episode, std::uint64_t seed = 1)
      : kind(kind_),
        sizes(sizes_),
        order(order_),
        score(make_score(kind, "s", sizes.query, sizes.key, sizes.hidden, layout)),
        memory(score->make_memory(sizes.steps, sizes.episodes, sizes.keys, order)),
        parameters(1, static_cast<int>(layout.size())),
        gradient(1, static_cast<int>(layout.size())),
        keys(sizes.episodes * sizes.keys, sizes.key),
        dkeys(sizes.episodes * sizes.keys, sizes.key),
        queries(sizes.steps * sizes.episodes, sizes.query),
        dqueries(sizes.steps * sizes.episodes, sizes.query),
        scores(sizes.steps * sizes.episodes, sizes.keys),
        dscores(sizes.steps * sizes.episodes, sizes.keys) {
    RandomStream stream(seed, Purpose::scene, 0, 0);
    for (GuardedMatrix* m : {&parameters, &keys, &dkeys, &queries, &dqueries, &dscores})
      m->randomize(stream);
    for (int i = 0; i < static_cast<int>(layout.size()); ++i) parameters(0, i) *= 0.5F;
  }

  Matrix step_of(GuardedMatrix& rows, int t) const {
    return rows.view().row_range(t * sizes.episodes, sizes.episodes);
  }
  std::span<const float> block() { return parameters.first_row(); }

  void forward() {
    scores.fill(kNan);
    score->prepare(memory, keys.view(), block());
    for (int t = 0; t < sizes.steps; ++t)
      score->forward(step_of(scores, t), memory, t, step_of(queries, t), keys.view(), block());
  }
  void backward(bool detached_query = false, bool detached_keys = false) {
    gradient.fill(kNan);  // overwritten, not accumulated
    for (int t = sizes.steps - 1; t >= sizes.first; --t)
      score->backward(detached_query ? Matrix{} : step_of(dqueries, t), memory, t,
                      step_of(dscores, t), step_of(queries, t), keys.view(), block());
    score->finish(gradient.first_row(), detached_keys ? Matrix{} : dkeys.view(), memory,
                  sizes.first, queries.view(), keys.view(), block());
  }

  std::string kind;
  ScoreSizes sizes;
  KeyOrder order;
  ParameterLayout layout;
  std::unique_ptr<Score> score;
  ScoreMemory memory;
  GuardedMatrix parameters, gradient, keys, dkeys, queries, dqueries, scores, dscores;
};

/// The same in double precision, element by element.
struct NaiveScore {
  explicit NaiveScore(ScoreSituation& s)
      : kind(s.kind),
        sizes(s.sizes),
        order(s.order),
        keys(s.keys.view()),
        queries(s.queries.view()),
        parameters(naive_parameters(s.layout, s.block())) {}

  double score(int query, int key) const {
    return naive_attention::score(kind, parameters, "s", naive_attention::row_of(queries, query),
                                  naive_attention::row_of(keys, key));
  }

  NaiveMatrix scores() const {
    NaiveMatrix all(sizes.steps * sizes.episodes, sizes.keys);
    for (int row = 0; row < all.rows; ++row)
      for (int k = 0; k < sizes.keys; ++k) {
        const int b = row % sizes.episodes;
        all(row, k) =
            score(row, order == KeyOrder::by_episode ? b * sizes.keys + k : k * sizes.episodes + b);
      }
    return all;
  }
  /// The loss whose gradient with respect to the scores of steps first .. T - 1 is `dscores`.
  double loss(const NaiveMatrix& dscores) const {
    double total = 0.0;
    const NaiveMatrix all = scores();
    for (int row = sizes.first * sizes.episodes; row < all.rows; ++row)
      for (int k = 0; k < sizes.keys; ++k) total += dscores(row, k) * all(row, k);
    return total;
  }

  std::string kind;
  ScoreSizes sizes;
  KeyOrder order;
  NaiveMatrix keys, queries;
  NaiveParameters parameters;
};

template <class Check>
void for_every_score(const Check& check) {
  for (const std::string& kind : score_kinds())
    for (const ScoreSizes& sizes : sizes_of(kind))
      for (const KeyOrder order : {KeyOrder::by_episode, KeyOrder::by_step}) {
        CAPTURE(kind);
        CAPTURE(static_cast<int>(order));
        CAPTURE(sizes.query);
        CAPTURE(sizes.key);
        CAPTURE(sizes.steps);
        CAPTURE(sizes.first);
        ScoreSituation situation(kind, sizes, order);
        check(situation);
      }
}

TEST_CASE("every score agrees with naive loops") {
  for_every_score([](ScoreSituation& s) {
    s.forward();
    CHECK(largest_error(s.scores.view(), NaiveScore(s).scores()) < 1e-5);
  });
}

TEST_CASE("every score's gradients agree with finite differences") {
  for_every_score([](ScoreSituation& s) {
    NaiveScore naive(s);
    const NaiveMatrix dscores(s.dscores.view());
    const auto loss = [&] { return naive.loss(dscores); };
    // The gradients of queries and keys are accumulated.
    const NaiveMatrix dqueries_before(s.dqueries.view()), dkeys_before(s.dkeys.view());
    s.forward();
    s.backward();
    CHECK(largest_error(s.dqueries.view(),
                        plus(dqueries_before, finite_differences(naive.queries, loss))) < 1e-5);
    CHECK(largest_error(s.dkeys.view(), plus(dkeys_before, finite_differences(naive.keys, loss))) <
          1e-5);
    check_parameter_gradients(s.layout, s.gradient, naive.parameters, loss, 1e-5);
  });
}

TEST_CASE("detaching the query or the keys of a score changes nothing else") {
  for_every_score([](ScoreSituation& s) {
    s.forward();
    s.backward();
    for (const bool detached_query : {false, true})
      for (const bool detached_keys : {false, true}) {
        CAPTURE(detached_query);
        CAPTURE(detached_keys);
        ScoreSituation detached(s.kind, s.sizes, s.order);
        const GuardedMatrix dqueries = detached.dqueries, dkeys = detached.dkeys;
        detached.forward();
        detached.backward(detached_query, detached_keys);
        CHECK(detached.dqueries == (detached_query ? dqueries : s.dqueries));
        CHECK(detached.dkeys == (detached_keys ? dkeys : s.dkeys));
        CHECK(detached.gradient == s.gradient);
      }
  });
}

TEST_CASE("a score's memory can be reused after any other use") {
  for_every_score([](ScoreSituation& s) {
    s.forward();
    s.backward();
    ScoreSituation again(s.kind, s.sizes, s.order);
    ScoreSituation other(s.kind, s.sizes, s.order, 2);
    std::swap(again.memory, other.memory);
    other.sizes.first = 0;
    other.forward();
    other.backward();
    std::swap(again.memory, other.memory);
    again.forward();
    again.backward();
    CHECK(again.scores == s.scores);
    CHECK(again.dqueries == s.dqueries);
    CHECK(again.dkeys == s.dkeys);
    CHECK(again.gradient == s.gradient);
  });
}

TEST_CASE("a score without a query reads none and gives it no gradient") {
  for_every_score([](ScoreSituation& s) {
    if (score_needs_query(s.kind)) return;
    const GuardedMatrix untouched = s.dqueries;
    s.forward();
    s.backward();
    CHECK(s.dqueries == untouched);
    ScoreSituation without(s.kind, s.sizes, s.order);
    without.queries.fill(kNan);
    without.forward();
    without.backward();
    CHECK(without.scores == s.scores);
    CHECK(without.gradient == s.gradient);
  });
}

TEST_CASE("scores start small, with nonzero gradients") {
  for (const std::string& kind : score_kinds()) {
    CAPTURE(kind);
    const int query = score_needs_equal_widths(kind) ? 96 : 128;
    ScoreSituation s(kind, {query, 96, 64, 4, 81, 2, 0});
    if (s.layout.size() == 0) continue;  // no parameters to initialise
    s.layout.initialize({s.parameters.view().data, s.layout.size()}, 1);
    s.forward();
    const NaiveMatrix scores(s.scores.view());
    const double mean_square = dot(scores, scores) / static_cast<double>(scores.values.size());
    CHECK(mean_square > 0.01);
    CHECK(mean_square < 1.0);
  }
}

TEST_CASE("parameters of the scores") {
  for (const std::string& kind : score_kinds()) {
    CAPTURE(kind);
    ParameterLayout layout;
    make_score(kind, "locator.score", 6, 6, 5, layout);
    std::string names;
    for (const Parameter& parameter : layout.parameters())
      names += parameter.name + " " + std::to_string(parameter.rows) + "x" +
               std::to_string(parameter.cols) + "\n";
    if (kind == "general")
      CHECK(names == "locator.score.weight 6x6\n");
    else if (kind == "additive")
      CHECK(names ==
            "locator.score.key.weight 6x5\nlocator.score.query.weight 6x5\n"
            "locator.score.bias 1x5\nlocator.score.v 1x5\n");
    else if (kind == "location_free")
      CHECK(names == "locator.score.key.weight 6x5\nlocator.score.bias 1x5\nlocator.score.v 1x5\n");
    else if (kind.ends_with("dot"))
      CHECK(names.empty());
    for (const Parameter& parameter : layout.parameters())
      CHECK(parameter.name.starts_with("locator.score."));
  }
}

TEST_CASE("the work of a score is computed from the shapes") {
  ParameterLayout layout;
  const auto check = [&](const char* kind, int key, std::int64_t products) {
    CAPTURE(kind);
    const Work work = make_score(kind, kind, 6, key, 5, layout)->work(3, 10);
    CHECK(work.forward == products);
    CHECK(work.backward == 2 * products);
  };
  check("dot", 6, 3 * 10 * 6);
  check("scaled_dot", 6, 3 * 10 * 6);
  check("general", 7, 3 * (6 * 7 + 10 * 7));
  check("additive", 7, 10 * 7 * 5 + 3 * (6 * 5 + 10 * 5));
  check("location_free", 7, 10 * 7 * 5 + 3 * 10 * 5);
}

TEST_CASE("every score's work grows with the number of queries and keys") {
  for (const std::string& kind : score_kinds()) {
    CAPTURE(kind);
    ParameterLayout layout;
    const auto score = make_score(kind, "s", 6, 6, 5, layout);
    for (const auto part : {&Work::forward, &Work::backward}) {
      CHECK(score->work(1, 1).*part > 0);
      CHECK(score->work(2, 10).*part > score->work(1, 10).*part);
      CHECK(score->work(2, 11).*part > score->work(2, 10).*part);
    }
  }
}

TEST_CASE("an unknown score lists the valid ones; some require equal widths") {
  const auto message = [](const std::string& kind) {
    ParameterLayout layout;
    return message_of<InputError>([&] {
      make_score(kind, "s", 5, 7, 4, layout, {"a.score", "a.query", "a.key"});
    });
  };
  CHECK(message("nonesuch") == "unknown a.score 'nonesuch'; allowed: " + join(score_kinds()));
  for (const std::string& kind : score_kinds())
    CHECK(message(kind) ==
          (score_needs_equal_widths(kind)
               ? "a.score: " + kind +
                     " needs a.query: 5 and a.key: 7 to be equal; allowed where they are not: " +
                     scores_of_any_widths()
               : "nothing thrown"));
  CHECK(score_needs_equal_widths("dot"));
  CHECK(score_needs_equal_widths("scaled_dot"));
  CHECK_FALSE(score_needs_equal_widths("general"));
  CHECK_FALSE(score_needs_query("location_free"));
}

}  // namespace
}  // namespace saccade
