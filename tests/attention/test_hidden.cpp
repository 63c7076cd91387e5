#include "attention/hidden.h"

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/attention/hidden_configs.h"
#include "tests/attention/naive_hidden.h"
#include "tests/attention/parameter_gradients.h"
#include "tests/attention/score_names.h"
#include "tests/guarded_matrix.h"
#include "tests/support.h"

namespace saccade {
namespace {

using naive_attention::Row;

struct HiddenSizes {
  int state, episodes, steps, first;
};

/// A read of states with all its inputs, all random.
struct HiddenSituation {
  HiddenSituation(const HiddenConfig& config_, const HiddenSizes& sizes_)
      : config(config_),
        sizes(sizes_),
        hidden(make_hidden_attention(config, "h", sizes.state, sizes.steps, layout)),
        memory(hidden->make_memory(sizes.steps, sizes.episodes)),
        parameters(1, static_cast<int>(layout.size())),
        gradient(1, static_cast<int>(layout.size())),
        values(sizes.steps * sizes.episodes, sizes.state),
        dvalues(sizes.steps * sizes.episodes, sizes.state),
        outputs(sizes.steps * sizes.episodes, hidden->output_size()),
        doutputs(sizes.steps * sizes.episodes, hidden->output_size()) {
    RandomStream stream(1, Purpose::scene, 0, 0);
    for (GuardedMatrix* m : {&parameters, &values, &dvalues, &doutputs}) m->randomize(stream);
    for (int b = 0; b < sizes.episodes; ++b)
      lengths.push_back(sizes.steps - (b + 1) % (sizes.steps / 2 + 1));
  }

  Matrix of_step(GuardedMatrix& rows, int t) const {
    return rows.view().row_range(t * sizes.episodes, sizes.episodes);
  }
  std::span<const float> block() { return parameters.first_row(); }

  void forward() {
    outputs.fill(kNan);
    hidden->prepare(memory, values.view(), lengths, block());
    for (int t = 0; t < sizes.steps; ++t)
      hidden->forward(of_step(outputs, t), memory, t, values.view(), block());
  }
  /// Returns the penalty.
  double backward() {
    gradient.fill(kNan);
    double penalty = 0.0;
    for (int t = sizes.steps - 1; t >= sizes.first; --t)
      penalty += hidden->backward(dvalues.view(), memory, t, of_step(doutputs, t), values.view(),
                                  kScale, block());
    hidden->finish(gradient.first_row(), dvalues.view(), memory, sizes.first, values.view(),
                   block());
    return penalty;
  }

  static constexpr float kScale = 0.7F;  // of the penalty

  HiddenConfig config;
  HiddenSizes sizes;
  ParameterLayout layout;
  std::unique_ptr<HiddenAttention> hidden;
  HiddenMemory memory;
  std::vector<int> lengths;
  GuardedMatrix parameters, gradient, values, dvalues, outputs, doutputs;
};

/// The same in double precision.
struct NaiveHidden {
  explicit NaiveHidden(HiddenSituation& s)
      : situation(s),
        config(s.config),
        values(s.values.view()),
        parameters(naive_parameters(s.layout, s.block())) {}

  naive_attention::Read read(int t, int b) const {
    std::vector<Row> states;
    for (int k = 0; k < situation.sizes.steps; ++k)
      states.push_back(naive_attention::row_of(values, k * situation.sizes.episodes + b));
    return naive_attention::read(config, parameters, "h", t, situation.lengths[b], states);
  }

  double penalty() const {
    double sum = 0.0;
    for (int t = situation.sizes.first; t < situation.sizes.steps; ++t)
      for (int b = 0; b < situation.sizes.episodes; ++b) sum += read(t, b).penalty;
    return sum;
  }
  /// The loss whose gradient with respect to the outputs of steps first .. T - 1 is doutputs, plus
  /// the penalty.
  double loss() const {
    double total = HiddenSituation::kScale * penalty();
    for (int t = situation.sizes.first; t < situation.sizes.steps; ++t)
      for (int b = 0; b < situation.sizes.episodes; ++b) {
        const Row output = read(t, b).output;
        for (std::size_t i = 0; i < output.size(); ++i)
          total +=
              situation.doutputs(t * situation.sizes.episodes + b, static_cast<int>(i)) * output[i];
      }
    return total;
  }

  HiddenSituation& situation;
  const HiddenConfig& config;
  NaiveMatrix values;
  NaiveParameters parameters;
};

template <class Check>
void for_every_read(const Check& check) {
  for (const auto& [name, config] : every_hidden_config())
    for (const std::string mask : {"", "01101"})
      for (const HiddenSizes& sizes : {HiddenSizes{1, 1, 1, 0}, HiddenSizes{4, 3, 5, 1},
                                       HiddenSizes{19, 2, 5, 0}, HiddenSizes{3, 2, 5, 5}}) {
        HiddenConfig masked = config;
        masked.mask = sizes.steps == 5 ? mask : "";
        CAPTURE(name);
        CAPTURE(masked.mask);
        CAPTURE(sizes.state);
        CAPTURE(sizes.steps);
        HiddenSituation situation(masked, sizes);
        check(situation);
      }
}

TEST_CASE("every read of the states agrees with naive loops") {
  for_every_read([](HiddenSituation& s) {
    s.forward();
    const NaiveHidden naive(s);
    NaiveMatrix outputs(s.outputs.view().rows, s.outputs.view().cols);
    NaiveMatrix weights(outputs.rows, s.hidden->hops() * s.sizes.steps);
    for (int row = 0; row < outputs.rows; ++row) {
      const naive_attention::Read read = naive.read(row / s.sizes.episodes, row % s.sizes.episodes);
      REQUIRE(static_cast<int>(read.output.size()) == outputs.cols);
      std::copy(read.output.begin(), read.output.end(), &outputs(row, 0));
      for (int hop = 0; hop < s.hidden->hops(); ++hop)
        std::copy(read.weights.at(hop).begin(), read.weights.at(hop).end(),
                  &weights(row, hop * s.sizes.steps));
    }
    CHECK(largest_error(s.outputs.view(), outputs) < 1e-5);
    CHECK(largest_error(matrix(s.memory.weights), weights) < 1e-5);
  });
}

TEST_CASE("the gradients of every read agree with finite differences") {
  for_every_read([](HiddenSituation& s) {
    NaiveHidden naive(s);
    const auto loss = [&] { return naive.loss(); };
    const NaiveMatrix dvalues(s.dvalues.view());  // accumulated
    s.forward();
    CHECK(s.backward() == doctest::Approx(naive.penalty()).epsilon(1e-5));
    CHECK(largest_error(s.dvalues.view(), plus(dvalues, finite_differences(naive.values, loss))) <
          3e-5);
    check_parameter_gradients(s.layout, s.gradient, naive.parameters, loss, 3e-5);
  });
}

TEST_CASE("later states, and those beyond an episode's length, do not affect a read") {
  for_every_read([](HiddenSituation& s) {
    s.forward();
    for (int t = 0; t < s.sizes.steps; ++t) {
      HiddenSituation other(s.config, s.sizes);
      for (int k = 0; k < s.sizes.steps; ++k)
        for (int b = 0; b < s.sizes.episodes; ++b)
          if (k > t || k >= s.lengths[b])
            for (int i = 0; i < s.sizes.state; ++i)
              other.values(k * s.sizes.episodes + b, i) = 10.0F;
      other.forward();
      const ConstMatrix before = s.of_step(s.outputs, t), after = other.of_step(other.outputs, t);
      for (int b = 0; b < before.rows; ++b)
        for (int i = 0; i < before.cols; ++i) CHECK(before(b, i) == after(b, i));
    }
  });
}

TEST_CASE("the weights of a read sum to one, or to less around a centre") {
  for_every_read([](HiddenSituation& s) {
    s.forward();
    const int n = s.sizes.steps;
    for (int t = 0; t < n; ++t)
      for (int b = 0; b < s.sizes.episodes; ++b)
        for (int hop = 0; hop < s.hidden->hops(); ++hop) {
          const float* weights = &s.memory.weights(t, b, hop * n);
          const float sum = std::accumulate(weights, weights + n, 0.0F);
          const bool nothing = s.config.kind != "last" && !s.config.mask.empty() && t == 0;
          if (nothing)
            CHECK(sum == 0.0F);
          else if (s.config.kind == "attend" && s.config.attend.area == "local")
            CHECK((sum > 0.0F && sum <= 1.00001F));
          else
            CHECK(sum == doctest::Approx(1.0));
          for (int k = 0; k < n && s.config.kind != "last" && !s.config.mask.empty(); ++k)
            if (s.config.mask[k] == '0') CHECK(weights[k] == 0.0F);
        }
  });
}

TEST_CASE("an episode's read does not depend on its position in the batch") {
  for (const auto& [name, config] : every_hidden_config()) {
    CAPTURE(name);
    const HiddenSizes sizes{21, 6, 5, 0};
    HiddenSituation s(config, sizes), turned(config, sizes);
    const auto from = [&](int row) {
      const int b = row % sizes.episodes;
      return row - b + (b + 1) % sizes.episodes;
    };
    for (int b = 0; b < sizes.episodes; ++b) turned.lengths[b] = s.lengths[from(b)];
    for (int row = 0; row < sizes.episodes * sizes.steps; ++row) {
      for (const auto matrices :
           {&HiddenSituation::values, &HiddenSituation::dvalues, &HiddenSituation::doutputs})
        std::copy_n((s.*matrices).view().row(from(row)), (s.*matrices).view().cols,
                    (turned.*matrices).view().row(row));
    }
    for (HiddenSituation* each : {&s, &turned}) {
      each->forward();
      each->backward();
    }
    for (int row = 0; row < sizes.episodes * sizes.steps; ++row) {
      for (int i = 0; i < s.hidden->output_size(); ++i)
        CHECK(turned.outputs(row, i) == s.outputs(from(row), i));
      for (int i = 0; i < sizes.state; ++i)
        CHECK(turned.dvalues(row, i) == s.dvalues(from(row), i));
    }
  }
}

TEST_CASE("the memory of reads can be reused after any other use") {
  for_every_read([](HiddenSituation& s) {
    s.forward();
    s.backward();
    HiddenSituation again(s.config, s.sizes);
    again.doutputs.fill(kNan);
    again.sizes.first = 0;
    again.forward();
    again.backward();
    HiddenSituation fresh(s.config, s.sizes);
    std::swap(again.memory, fresh.memory);
    fresh.forward();
    fresh.backward();
    CHECK(fresh.outputs == s.outputs);
    CHECK(fresh.dvalues == s.dvalues);
    CHECK(fresh.gradient == s.gradient);
  });
}

TEST_CASE("the settings of a read have an effect with the kinds that use them") {
  HiddenConfig config;
  // Of our kinds: the table may have more.
  const auto kinds_with = [&](const std::string& key) {
    std::string kinds;
    for (const std::string kind : {"last", "mean", "attend", "self"}) {
      config.kind = kind;
      for (const Setting& setting : describe(config, {})) {
        if (setting.key != "attention.hidden." + key) continue;
        const Condition& of_kind = setting.needs.all.front();
        if (of_kind.holds(of_kind.field)) kinds += " " + kind;
      }
    }
    return kinds;
  };
  CHECK(kinds_with("score") == " attend");
  CHECK(kinds_with("score_hidden") == " attend self");
  CHECK(kinds_with("mask") == " mean attend self");
  CHECK(kinds_with("hops") == " self");
  config.attend = {.area = "local", .position = "predicted"};
  CHECK(kinds_with("window") == " attend");
}

TEST_CASE("invalid reads are refused by key") {
  const auto message = [](const HiddenConfig& config) {
    ParameterLayout layout;
    return message_of<InputError>([&] { make_hidden_attention(config, "h", 4, 3, layout); });
  };
  CHECK(message({.kind = "nonesuch"}) ==
        "unknown attention.hidden.kind 'nonesuch'; allowed: " + join(hidden_kinds()));
  CHECK(message({.kind = "attend", .query = "next"}) ==
        "unknown attention.hidden.query 'next'; allowed: none, mean, last");
  CHECK(message({.kind = "attend", .query = "mean", .output = "all"}) ==
        "unknown attention.hidden.output 'all'; allowed: context_and_last, context");
  CHECK(message({.kind = "attend", .query = "none"}) ==
        "attention.hidden.query: none, but attention.hidden.score: general needs one; allowed: "
        "mean or last, or the score " +
            scores_without_query());
  CHECK(message({.kind = "attend", .query = "mean", .attend = {.score = "location_free"}}) ==
        "attention.hidden.query: mean, but attention.hidden.score: location_free takes none; "
        "allowed: none, or another score");
  CHECK(message({.kind = "self", .hops = 0}) == "attention.hidden.hops: 0; allowed: 1 to 64");
  CHECK(message({.kind = "self", .hops = 65}) == "attention.hidden.hops: 65; allowed: 1 to 64");
  CHECK(message({.kind = "attend", .attend = {.area = "local", .window = 257}}) ==
        "attention.hidden.window: 257; allowed: 1 to 256");
  CHECK(message({.kind = "self", .attend = {.score_hidden = 0}}) ==
        "attention.hidden.score_hidden: 0; allowed: 1 to 8192");
  CHECK(message({.kind = "self", .penalty = -0.5}) ==
        "attention.hidden.penalty: -0.5; allowed: 0 to 1000");
  CHECK(message({.kind = "self"}) == "nothing thrown");
  for (const std::string kind : {"mean", "self", "last"})
    for (const std::string mask : {"000", "01", "0110", "012"}) {
      CAPTURE(mask);
      CHECK(message({.kind = kind, .mask = mask}) ==
            "attention.hidden.mask: '" + mask +
                "'; allowed: 3 digits, one a step, 1 for what may be read and 0 for what may not, "
                "with at least one 1; or null");
    }
}

TEST_CASE("a read is as wide as a state if its table says so") {
  for (auto [name, config] : every_hidden_config()) {
    CAPTURE(name);
    config.output = "context";
    ParameterLayout layout;
    const int width = make_hidden_attention(config, "h", 4, 3, layout)->output_size();
    CHECK((width == 4) == hidden_reads_a_state(config.kind));
  }
}

TEST_CASE("the work of reads is computed from the shapes") {
  ParameterLayout layout;
  const auto forward = [&](const HiddenConfig& config) {
    return make_hidden_attention(config, config.kind, 6, 10, layout)->work(10, 3).forward;
  };
  CHECK(forward({.kind = "last"}) == 0);
  CHECK(forward({.kind = "mean"}) == 0);
  CHECK(forward({.kind = "attend", .query = "last", .attend = {.score = "dot"}}) == 3 * 2 * 10 * 6);
  CHECK(forward({.kind = "self", .attend = {.score_hidden = 5}, .hops = 2}) ==
        10 * (6 * 5 + 5 * 2) + 3 * 6 * 2 * 10);
}

}  // namespace
}  // namespace saccade
