#include "attention/attend.h"

#include <doctest/doctest.h>

#include <cmath>
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

struct AttendSizes {
  int query, value, episodes, values, queries, first;
};

/// Attention with parameters, queries, values and their gradients, all random.
struct AttendSituation {
  AttendSituation(const AttendConfig& config_, const AttendSizes& sizes_, KeyOrder order_)
      : config(config_),
        sizes(sizes_),
        order(order_),
        attend("a", config, sizes.query, sizes.value, layout),
        memory(attend.make_memory(sizes.queries, sizes.episodes, sizes.values, order)),
        parameters(1, static_cast<int>(layout.size())),
        gradient(1, static_cast<int>(layout.size())),
        values(sizes.episodes * sizes.values, sizes.value),
        dvalues(sizes.episodes * sizes.values, sizes.value),
        queries(sizes.queries * sizes.episodes, sizes.query),
        dqueries(sizes.queries * sizes.episodes, sizes.query),
        mask(sizes.queries * sizes.episodes, sizes.values),
        contexts(sizes.queries * sizes.episodes, sizes.value),
        dcontexts(sizes.queries * sizes.episodes, sizes.value) {
    RandomStream stream(1, Purpose::scene, 0, 0);
    for (GuardedMatrix* m : {&parameters, &values, &dvalues, &queries, &dqueries, &dcontexts})
      m->randomize(stream);
    for (int r = 0; r < mask.view().rows; ++r) {
      for (int k = 0; k < sizes.values; ++k) mask(r, k) = stream.uniform() < 0.6F ? 1.0F : 0.0F;
      mask(r, static_cast<int>(stream.uniform() * static_cast<float>(sizes.values))) = 1.0F;
    }
  }

  Matrix of_query(GuardedMatrix& rows, int j) const {
    return rows.view().row_range(j * sizes.episodes, sizes.episodes);
  }
  std::span<const float> block() { return parameters.first_row(); }

  void forward() {
    contexts.fill(kNan);
    attend.prepare(memory, values.view(), block());
    for (int j = 0; j < sizes.queries; ++j)
      attend.forward(of_query(contexts, j), memory, j, of_query(queries, j), values.view(),
                     of_query(mask, j), block());
  }
  void backward(bool detached_query = false) {
    gradient.fill(kNan);
    for (int j = sizes.queries - 1; j >= sizes.first; --j)
      attend.backward(detached_query ? Matrix{} : of_query(dqueries, j), dvalues.view(), memory, j,
                      of_query(dcontexts, j), of_query(queries, j), values.view(),
                      of_query(mask, j), block());
    attend.finish(gradient.first_row(), dvalues.view(), memory, sizes.first, queries.view(),
                  values.view(), block());
  }

  AttendConfig config;
  AttendSizes sizes;
  KeyOrder order;
  ParameterLayout layout;
  Attend attend;
  AttendMemory memory;
  GuardedMatrix parameters, gradient, values, dvalues, queries, dqueries, mask, contexts, dcontexts;
};

struct NaiveAttend {
  explicit NaiveAttend(AttendSituation& s)
      : situation(s),
        values(s.values.view()),
        queries(s.queries.view()),
        parameters(naive_parameters(s.layout, s.block())) {}

  std::vector<naive_attention::Row> values_of(int b) const {
    const auto [query, value, episodes, n, num_queries, first] = situation.sizes;
    std::vector<naive_attention::Row> rows;
    for (int k = 0; k < n; ++k)
      rows.push_back(naive_attention::row_of(
          values, situation.order == KeyOrder::by_episode ? b * n + k : k * episodes + b));
    return rows;
  }
  naive_attention::Row weights(int row) const {
    const auto [query, value, episodes, n, num_queries, first] = situation.sizes;
    std::vector<bool> allowed;
    for (int k = 0; k < n; ++k) allowed.push_back(situation.mask(row, k) == 1.0F);
    return naive_attention::weights(situation.config, parameters, "a", row / episodes,
                                    naive_attention::row_of(queries, row),
                                    values_of(row % episodes), allowed);
  }
  NaiveMatrix all_weights() const {
    NaiveMatrix all(queries.rows, situation.sizes.values);
    for (int row = 0; row < all.rows; ++row)
      for (int k = 0; k < all.cols; ++k) all(row, k) = weights(row)[k];
    return all;
  }
  NaiveMatrix contexts() const {
    NaiveMatrix all(queries.rows, values.cols);
    for (int row = 0; row < all.rows; ++row) {
      const naive_attention::Row c =
          naive_attention::context(weights(row), values_of(row % situation.sizes.episodes));
      std::copy(c.begin(), c.end(), &all(row, 0));
    }
    return all;
  }
  /// The loss whose gradient with respect to the contexts of queries first .. J - 1 is dcontexts.
  double loss() const {
    const NaiveMatrix all = contexts();
    double total = 0.0;
    for (int row = situation.sizes.first * situation.sizes.episodes; row < all.rows; ++row)
      for (int i = 0; i < all.cols; ++i) total += situation.dcontexts(row, i) * all(row, i);
    return total;
  }

  AttendSituation& situation;
  NaiveMatrix values, queries;
  NaiveParameters parameters;
};

std::vector<AttendConfig> every_config() {
  std::vector<AttendConfig> all;
  for (const std::string& score : score_kinds()) {
    all.push_back({.score = score, .score_hidden = 5});
    for (const std::string& position : attention_positions())
      for (const int window : {1, 2})
        if (position == "current" || score_needs_query(score))
          all.push_back({.score = score,
                         .score_hidden = 5,
                         .area = "local",
                         .position = position,
                         .window = window});
  }
  return all;
}

template <class Check>
void for_every_attention(const Check& check) {
  for (const AttendConfig& config : every_config())
    for (const KeyOrder order : {KeyOrder::by_episode, KeyOrder::by_step})
      for (const AttendSizes& equal :
           {AttendSizes{1, 1, 1, 1, 1, 0}, AttendSizes{4, 4, 3, 7, 3, 1},
            AttendSizes{6, 6, 2, 9, 10, 0}, AttendSizes{3, 3, 2, 4, 2, 2}}) {
        AttendSizes sizes = equal;
        if (!score_needs_equal_widths(config.score)) sizes.value += 2;
        if (!score_needs_query(config.score)) sizes.query = 0;
        CAPTURE(config.score);
        CAPTURE(config.area);
        CAPTURE(config.position);
        CAPTURE(config.window);
        CAPTURE(static_cast<int>(order));
        CAPTURE(sizes.values);
        AttendSituation situation(config, sizes, order);
        check(situation);
      }
}

TEST_CASE("attention agrees with naive loops") {
  for_every_attention([](AttendSituation& s) {
    s.forward();
    const NaiveAttend naive(s);
    CHECK(largest_error(matrix(s.memory.weights), naive.all_weights()) < 1e-5);
    CHECK(largest_error(s.contexts.view(), naive.contexts()) < 1e-5);
  });
}

TEST_CASE("attention's gradients agree with finite differences") {
  for_every_attention([](AttendSituation& s) {
    NaiveAttend naive(s);
    const auto loss = [&] { return naive.loss(); };
    const NaiveMatrix dqueries_before(s.dqueries.view()), dvalues_before(s.dvalues.view());
    s.forward();
    s.backward();
    CHECK(largest_error(s.dqueries.view(),
                        plus(dqueries_before, finite_differences(naive.queries, loss))) < 2e-5);
    CHECK(largest_error(s.dvalues.view(),
                        plus(dvalues_before, finite_differences(naive.values, loss))) < 2e-5);
    check_parameter_gradients(s.layout, s.gradient, naive.parameters, loss, 2e-5);
  });
}

TEST_CASE("masked values get weight 0 and no gradient") {
  for_every_attention([](AttendSituation& s) {
    const int forbidden = s.sizes.values - 1;
    if (forbidden == 0) return;
    for (int r = 0; r < s.mask.view().rows; ++r) {
      s.mask(r, forbidden) = 0.0F;
      s.mask(r, 0) = 1.0F;
    }
    s.dvalues.fill(0.0F);
    s.forward();
    s.backward();
    for (int j = 0; j < s.sizes.queries; ++j)
      for (int b = 0; b < s.sizes.episodes; ++b) CHECK(s.memory.weights(j, b, forbidden) == 0.0F);
    for (int b = 0; b < s.sizes.episodes; ++b) {
      const ConstMatrix dvalues = keys_of_episode(s.dvalues.view(), s.order, s.sizes.episodes, b);
      for (int i = 0; i < s.sizes.value; ++i) CHECK(dvalues(forbidden, i) == 0.0F);
    }
  });
}

TEST_CASE("detaching the query of attention changes nothing else") {
  for_every_attention([](AttendSituation& s) {
    s.forward();
    s.backward();
    AttendSituation detached(s.config, s.sizes, s.order);
    const GuardedMatrix untouched = detached.dqueries;
    detached.forward();
    detached.backward(true);
    CHECK(detached.dqueries == untouched);
    CHECK(detached.dvalues == s.dvalues);
    CHECK(detached.gradient == s.gradient);
  });
}

TEST_CASE("a window without allowed values reads the nearest one") {
  AttendSituation s({.score = "dot", .area = "local", .window = 1}, {2, 2, 1, 8, 2, 0},
                    KeyOrder::by_step);
  s.mask.fill(0.0F);
  s.mask(0, 5) = s.mask(0, 7) = 1.0F;  // around 0
  s.mask(1, 0) = s.mask(1, 3) = 1.0F;  // around 1: in the window
  s.forward();
  CHECK(s.memory.weights(0, 0, 5) == doctest::Approx(std::exp(-25.0 / 0.5)));
  CHECK(s.memory.weights(0, 0, 7) == 0.0F);
  CHECK(s.memory.weights(1, 0, 0) == doctest::Approx(std::exp(-1.0 / 0.5)));
  CHECK(s.memory.weights(1, 0, 3) == 0.0F);
}

TEST_CASE("attention over nothing is an error that names the episode") {
  for (const std::string& area : attention_areas()) {
    AttendSituation s({.score = "dot", .area = area}, {2, 2, 3, 4, 1, 0}, KeyOrder::by_step);
    for (int k = 0; k < 4; ++k) s.mask(1, k) = 0.0F;
    CHECK(message_of<InputError>([&] { s.forward(); }) ==
          "attention over nothing: the mask of episode 1 allows none of its 4 values; allowed: at "
          "least one");
  }
}

TEST_CASE("invalid attention settings are refused by key") {
  const auto message = [](const AttendConfig& config, int query = 3, int value = 3) {
    ParameterLayout layout;
    return message_of<InputError>(
        [&] { Attend("a", config, query, value, layout, "decoder.attention"); });
  };
  CHECK(message({.score = "nonesuch"}) ==
        "unknown decoder.attention.score 'nonesuch'; allowed: " + join(score_kinds()));
  CHECK(message({.score = "dot"}, 3, 4) ==
        "decoder.attention.score: dot needs decoder.hidden_size: 3 and model.hidden_size: 4 to be "
        "equal; allowed where they are not: " +
            scores_of_any_widths());
  CHECK(message({.area = "here"}) ==
        "unknown decoder.attention.area 'here'; allowed: global, local");
  CHECK(message({.area = "local", .position = "next"}) ==
        "unknown decoder.attention.position 'next'; allowed: current, predicted");
  CHECK(message({.area = "local", .window = 0}) ==
        "decoder.attention.window: 0; allowed: 1 to 256");
  CHECK(message({.score_hidden = 0}) == "decoder.attention.score_hidden: 0; allowed: 1 to 8192");
  CHECK(message({.score = "location_free", .area = "local", .position = "predicted"}) ==
        "decoder.attention.position: predicted needs a query, but decoder.attention.score: "
        "location_free has none; allowed: current");
  CHECK(message({.score = "general"}, 0) ==
        "decoder.attention.score: general needs a query, but there is none; allowed: " +
            scores_without_query());
  CHECK(message({.score = "location_free"}, 0) == "nothing thrown");
}

TEST_CASE("attention's work is computed from the shapes") {
  ParameterLayout layout;
  const Attend global("g", {.score = "dot"}, 6, 6, layout);
  CHECK(global.work(3, 10).forward == 3 * (10 * 6 + 10 * 6));
  CHECK(global.work(3, 10).backward == 2 * 3 * (10 * 6 + 10 * 6));
  const Attend predicted(
      "p", {.score = "dot", .score_hidden = 5, .area = "local", .position = "predicted"}, 6, 6,
      layout);
  CHECK(predicted.work(3, 10).forward == 3 * (10 * 6 + 10 * 6 + 6 * 5 + 5));
}

}  // namespace
}  // namespace saccade
