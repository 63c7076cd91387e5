#include "attention/policy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/name_table.h"
#include "tests/attention/policy_situation.h"
#include "tests/guarded_matrix.h"
#include "tests/statistics.h"
#include "tests/support.h"

namespace saccade {
namespace {

struct NamedPolicy {
  std::string name;
  Policy policy;
};

/// Every policy, for the first glimpse and for the others.
std::vector<NamedPolicy> all_policies() {
  std::vector<NamedPolicy> all;
  for (const std::string& name : policies()) all.push_back({name, find_policy(name)});
  for (const std::string& first : first_glimpses())
    all.push_back({"first " + first, find_first_glimpse(first)});
  return all;
}

TEST_CASE("fixed places are those that neither chance nor the scene changes") {
  constexpr int kEpisodes = 4, kGlimpses = 7;
  for (const std::string& name : policies()) {
    CAPTURE(name);
    PolicySituation situation(kEpisodes);
    bool alike = true;
    for (int t = 0; t < kGlimpses; ++t) {
      const GuardedMatrix samples = situation.sample(find_policy(name), t, kGlimpses, 0.1F);
      for (int b = 1; b < kEpisodes; ++b)
        alike = alike && samples(b, 0) == samples(0, 0) && samples(b, 1) == samples(0, 1);
    }
    CHECK(has_fixed_places(name) == alike);
    CHECK(visits_all_parts(name) == (name == "scan"));
  }
  CHECK_FALSE(has_fixed_places("soft_grid"));
  CHECK_FALSE(visits_all_parts("soft_grid"));
}

TEST_CASE("the first glimpse is learned, drawn or at a fixed place") {
  for (const std::string& first : first_glimpses()) {
    CAPTURE(first);
    CHECK(first_is_learned(first) == (find_first_glimpse(first) == find_policy("hard_gaussian")));
    CHECK(first_is_drawn(first) == (find_first_glimpse(first) == find_policy("random")));
  }
  CHECK_THROWS_AS(first_is_learned("centre"), InputError);
}

TEST_CASE("every policy writes finite samples, equal for equal streams") {
  constexpr int kEpisodes = 9, kGlimpses = 7;
  for (const auto& [name, policy] : all_policies())
    for (const float std : {0.0F, 1e-3F, 0.3F, 10.0F}) {
      CAPTURE(name);
      CAPTURE(std);
      PolicySituation situation(kEpisodes), again(kEpisodes), fewer(kEpisodes - 4);
      for (int t = 0; t < kGlimpses; ++t) {
        const GuardedMatrix samples = situation.sample(policy, t, kGlimpses, std);
        for (int b = 0; b < kEpisodes; ++b)
          for (int axis = 0; axis < 2; ++axis) REQUIRE(std::isfinite(samples(b, axis)));
        CHECK(again.sample(policy, t, kGlimpses, std) == samples);
        // An episode depends only on its own stream, not on the batch.
        const GuardedMatrix part = fewer.sample(policy, t, kGlimpses, std);
        for (int b = 0; b < kEpisodes - 4; ++b) {
          CHECK(part(b, 0) == samples(b, 0));
          CHECK(part(b, 1) == samples(b, 1));
        }
      }
    }
}

// ---- Independent implementation of each policy's rule ----

using Place = std::array<double, 2>;

/// The inputs of a rule: glimpse t of T, the mean, the target.
struct PolicyInput {
  int t, num_glimpses;
  Place mean, target;
};

Place naive_gaussian(const PolicyInput& input) { return input.mean; }
Place naive_center(const PolicyInput&) { return {0.0, 0.0}; }
Place naive_oracle(const PolicyInput& input) { return input.target; }
Place naive_scan(const PolicyInput& input) {
  int rows = 1;
  while ((rows + 1) * (rows + 1) <= input.num_glimpses) ++rows;
  int cols = 1;
  while (rows * cols < input.num_glimpses) ++cols;
  return {-1.0 + (input.t % cols + 0.5) * 2.0 / cols, -1.0 + (input.t / cols + 0.5) * 2.0 / rows};
}

/// Where a policy looks without noise; null if it is purely random. A policy missing here fails.
const NameTable<Place (*)(const PolicyInput&)>& naive_policies() {
  static const NameTable<Place (*)(const PolicyInput&)> table{"naive policy",
                                                              {{"hard_gaussian", naive_gaussian},
                                                               {"random", nullptr},
                                                               {"center", naive_center},
                                                               {"scan", naive_scan},
                                                               {"oracle", naive_oracle}}};
  return table;
}

TEST_CASE("every policy looks where its rule says") {
  for (const std::string& name : policies()) {
    CAPTURE(name);
    const auto naive = naive_policies().at(name);
    if (naive == nullptr) continue;
    for (const int num_glimpses : {1, 2, 5, 8, 12})
      for (int t = 0; t < num_glimpses; ++t) {
        CAPTURE(num_glimpses);
        CAPTURE(t);
        PolicySituation situation(3);
        const GuardedMatrix samples = situation.sample(find_policy(name), t, num_glimpses, 0.0F);
        for (int b = 0; b < 3; ++b) {
          const Place place = naive({t,
                                     num_glimpses,
                                     {situation.mean(b, 0), situation.mean(b, 1)},
                                     {situation.target(b, 0), situation.target(b, 1)}});
          for (int axis = 0; axis < 2; ++axis)
            CHECK(samples(b, axis) == doctest::Approx(place[axis]).scale(1.0).epsilon(1e-5));
        }
      }
  }
}

TEST_CASE("every policy can be clamped to the canvas") {
  for (const auto& [name, policy] : all_policies()) {
    CAPTURE(name);
    PolicySituation situation(50);
    const GuardedMatrix samples = situation.sample(policy, 0, 8, 2.0F);
    GuardedMatrix locations(50, 2);
    clamp_to_canvas(locations.view(), samples.view());
    for (int b = 0; b < 50; ++b)
      for (int axis = 0; axis < 2; ++axis)
        REQUIRE(locations(b, axis) == std::min(1.0F, std::max(-1.0F, samples(b, axis))));
  }
}

TEST_CASE("clamping maps every number to [-1, 1]") {
  const std::vector<std::array<float, 2>> pairs = {
      {0.0F, 0.0F},     {1.0F, 1.0F},   {-1.0F, -1.0F},
      {0.999F, 0.999F}, {1.001F, 1.0F}, {-7.0F, -1.0F},
      {kInf, 1.0F},     {-kInf, -1.0F}, {std::numeric_limits<float>::quiet_NaN(), -1.0F}};
  for (const auto& [sample, expected] : pairs) {
    GuardedMatrix samples(1, 2), locations(1, 2);
    samples.fill(sample);
    clamp_to_canvas(locations.view(), samples.view());
    CHECK(locations(0, 0) == expected);
    CHECK(locations(0, 1) == expected);
  }
}

TEST_CASE("clamping blocks the gradient") {
  GuardedMatrix samples(3, 2), dlocations(3, 2);
  const float values[3][2] = {{-1.5F, 0.2F}, {1.0F, -1.0F}, {-0.3F, 7.0F}};
  for (int b = 0; b < 3; ++b)
    for (int axis = 0; axis < 2; ++axis) {
      samples(b, axis) = values[b][axis];
      dlocations(b, axis) = static_cast<float>(10 * b + axis + 1);
    }
  clamp_backward(dlocations.view(), samples.view());
  const float expected[3][2] = {{0.0F, 2.0F}, {11.0F, 12.0F}, {21.0F, 0.0F}};
  for (int b = 0; b < 3; ++b)
    for (int axis = 0; axis < 2; ++axis) CHECK(dlocations(b, axis) == expected[b][axis]);
}

TEST_CASE("gaussian samples have the requested mean and deviation") {
  constexpr int kEpisodes = 20000;
  constexpr float kStd = 0.25F;
  for (const Policy policy : {find_policy("hard_gaussian"), find_first_glimpse("learned")}) {
    PolicySituation situation(kEpisodes);
    const GuardedMatrix samples = situation.sample(policy, 0, 8, kStd);
    std::vector<double> x, y;  // standard normal
    for (int b = 0; b < kEpisodes; ++b) {
      x.push_back((samples(b, 0) - situation.mean(b, 0)) / kStd);
      y.push_back((samples(b, 1) - situation.mean(b, 1)) / kStd);
    }
    CHECK(kolmogorov_distance(x, normal_cdf) < 1.95);
    CHECK(kolmogorov_distance(y, normal_cdf) < 1.95);
    for (const int lag : {0, 1}) CHECK(std::abs(correlation_deviate(x, y, lag)) < 5);

    PolicySituation still(5);  // zero deviation looks at the mean
    CHECK(still.sample(policy, 0, 8, 0.0F) == still.mean);
    PolicySituation next(5);
    const GuardedMatrix first = next.sample(policy, 0, 8, kStd);
    CHECK_FALSE(next.sample(policy, 1, 8, kStd) == first);
    CHECK_FALSE(PolicySituation(5, 1).sample(policy, 0, 8, kStd) == first);
  }
}

TEST_CASE("random looks are uniform over the canvas") {
  constexpr int kEpisodes = 20000;
  for (const Policy policy : {find_policy("random"), find_first_glimpse("random")}) {
    PolicySituation situation(kEpisodes);
    const GuardedMatrix samples = situation.sample(policy, 0, 8, 0.1F);
    std::vector<double> x, y;
    for (int b = 0; b < kEpisodes; ++b) {
      x.push_back(samples(b, 0));
      y.push_back(samples(b, 1));
    }
    const auto cdf = [](double l) { return std::clamp(0.5 * (l + 1.0), 0.0, 1.0); };
    CHECK(kolmogorov_distance(x, cdf) < 1.95);
    CHECK(kolmogorov_distance(y, cdf) < 1.95);
    CHECK(std::abs(correlation_deviate(x, y, 0)) < 5);
    CHECK_FALSE(situation.sample(policy, 1, 8, 0.1F) == samples);
  }
}

TEST_CASE("center looks at the centre, oracle at the target") {
  PolicySituation situation(6);
  GuardedMatrix centre(6, 2);
  centre.fill(0.0F);
  for (int t = 0; t < 3; ++t) {
    CHECK(situation.sample(find_policy("center"), t, 3, 0.5F) == centre);
    CHECK(situation.sample(find_first_glimpse("center"), t, 3, 0.5F) == centre);
    CHECK(situation.sample(find_policy("oracle"), t, 3, 0.5F) == situation.target);
  }
}

TEST_CASE("scan covers the canvas in raster order without large gaps") {
  const Policy scan = find_policy("scan");
  for (int num_glimpses = 1; num_glimpses <= 30; ++num_glimpses) {
    CAPTURE(num_glimpses);
    PolicySituation situation(2);
    std::vector<std::array<float, 2>> places;
    for (int t = 0; t < num_glimpses; ++t) {
      const GuardedMatrix samples = situation.sample(scan, t, num_glimpses, 0.1F);
      CHECK(samples(0, 0) == samples(1, 0));
      CHECK(samples(0, 1) == samples(1, 1));
      places.push_back({samples(0, 0), samples(0, 1)});
    }
    std::set<float> columns, rows;
    for (std::size_t t = 0; t < places.size(); ++t) {
      const auto [x, y] = places[t];
      CHECK(std::abs(x) < 1.0F);
      CHECK(std::abs(y) < 1.0F);
      columns.insert(x);
      rows.insert(y);
      if (t == 0) continue;
      const auto [x_before, y_before] = places[t - 1];
      CHECK((y > y_before || (y == y_before && x > x_before)));
      if (y > y_before) CHECK(x == places[0][0]);  // a new row starts at the left
    }
    // The grid is nearly square and full, except for the end of its last row.
    CHECK(columns.size() >= rows.size());
    CHECK(columns.size() <= rows.size() + 2);
    CHECK(columns.size() * rows.size() < num_glimpses + rows.size());
    // Evenly spaced: cells of the same size that cover [-1, 1].
    for (const std::set<float>* axis : {&columns, &rows}) {
      const float half_cell = 1.0F / static_cast<float>(axis->size());
      float expected = -1.0F + half_cell;
      for (const float place : *axis) {
        CHECK(place == doctest::Approx(expected));
        expected += 2.0F * half_cell;
      }
    }
  }
}

TEST_CASE("an unknown policy lists the valid ones") {
  CHECK(message_of<InputError>([] { find_policy("hard"); }) ==
        "unknown policy 'hard'; allowed: " + join(policies()));
  CHECK(message_of<InputError>([] { find_first_glimpse("middle"); }) ==
        "unknown attention.glimpse.first 'middle'; allowed: random, center, learned");
}

TEST_CASE("the quantiles of an episode's looks are evenly spaced") {
  for (const int looks : {2, 5, 8, 16, 100}) {
    std::vector<float> quantiles;
    for (int t = 1; t <= looks; ++t) quantiles.push_back(spread_quantile(t));
    std::ranges::sort(quantiles);
    CHECK(quantiles.front() >= 0.0F);
    CHECK(quantiles.back() < 1.0F);
    for (int k = 1; k < looks; ++k) {
      CHECK(quantiles[k] - quantiles[k - 1] < 2.7F / static_cast<float>(looks));
      CHECK(quantiles[k] - quantiles[k - 1] > 0.3F / static_cast<float>(looks));
    }
  }
}

TEST_CASE("spread looks are distributed like a Gaussian: evenly in probability, around the mean") {
  CHECK(spread_offset(0, 1) == std::array{0.0F, 0.0F});
  for (const int looks : {2, 8, 64}) {
    CAPTURE(looks);
    double x = 0.0, y = 0.0, mean_square = 0.0, unit = 0.0;
    std::vector<double> squares;
    for (int t = 0; t < looks; ++t) {
      const auto [dx, dy] = spread_offset(t, looks);
      squares.push_back(dx * dx + dy * dy);
      x += dx / static_cast<float>(looks);
      y += dy / static_cast<float>(looks);
      mean_square += squares.back() / looks;
      unit -= 2.0 * std::log(1.0 - static_cast<double>(t) / looks) / looks;
    }
    CHECK(mean_square == doctest::Approx(2.0).epsilon(1e-5));
    // P(|l| < r) = 1 - exp(-r^2 / 2); the squares are larger by a factor 2 / unit.
    for (int t = 0; t < looks; ++t)
      CHECK(1.0 - std::exp(-0.5 * squares[t] * unit / 2.0) ==
            doctest::Approx(static_cast<double>(t) / looks).epsilon(1e-5));
    CHECK(std::hypot(x, y) < 1.5 / std::sqrt(looks));
  }
}

// Samples (B, 3) of glimpse t with a zoom, of mean 0.4.
GuardedMatrix zoomed_sample(Policy policy, int t, int episodes, float zoom_std) {
  PolicySituation situation(episodes);
  GuardedMatrix mean(episodes, 3), samples(episodes, 3);
  mean.fill(0.4F);
  samples.fill(std::numeric_limits<float>::quiet_NaN());
  policy(samples.view(), {.t = t,
                          .num_glimpses = 3,
                          .mean = mean.view(),
                          .std = 0.1F,
                          .zoom_std = zoom_std,
                          .target = situation.target.view(),
                          .streams = situation.streams});
  return samples;
}

TEST_CASE("zoom: the Gaussian has its own deviation, and random is uniform") {
  constexpr int kEpisodes = 20000;
  const auto of = [](const GuardedMatrix& samples) {
    std::vector<double> zooms;
    for (int b = 0; b < kEpisodes; ++b) zooms.push_back(samples(b, 2));
    return zooms;
  };
  const std::vector<double> gaussian =
      of(zoomed_sample(find_policy("hard_gaussian"), 1, kEpisodes, 0.3F));
  CHECK(std::abs(mean_deviate(gaussian, 0.4, 0.3 * 0.3)) < 5);
  double squares = 0.0;
  for (const double u : gaussian) squares += (u - 0.4) * (u - 0.4) / kEpisodes;
  CHECK(squares == doctest::Approx(0.09).epsilon(0.05));
  const std::vector<double> random = of(zoomed_sample(find_policy("random"), 1, kEpisodes, 0.3F));
  CHECK(std::abs(mean_deviate(random, 0.0, 1.0 / 3.0)) < 5);
  CHECK(std::ranges::max(random) > 0.99);
  CHECK(std::ranges::min(random) < -0.99);
  CHECK(zoomed_sample(find_policy("hard_gaussian"), 1, 2, 0.0F)(1, 2) == 0.4F);
}

TEST_CASE("zoom: scan is always wide, center and oracle only in the first look") {
  for (int t = 0; t < 3; ++t) {
    const float approaching = t == 0 ? 1.0F : -1.0F;
    for (const Policy policy :
         {find_policy("center"), find_policy("oracle"), find_first_glimpse("center")})
      CHECK(zoomed_sample(policy, t, 2, 0.3F)(1, 2) == approaching);
    CHECK(zoomed_sample(find_policy("scan"), t, 2, 0.3F)(1, 2) == 1.0F);
  }
}

TEST_CASE("a policy without a function cannot be registered") {
  CHECK(message_of<InputError>([] { register_policy("late", nullptr); }) ==
        "policy: 'late' cannot be registered: needed: a function");
}

}  // namespace
}  // namespace saccade
