// One network in two forms: for arbitrary glimpses, and for glimpses at the same places in each
// episode.
#include "agent/looking/glimpse_network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "tests/agent/support.h"
#include "tests/guarded_matrix.h"

namespace saccade {
namespace {

constexpr GlimpseNetwork::Sizes kGlimpseSizes{.glimpse = 11, .what = 7, .where = 5, .features = 9};

struct GlimpseBatch {
  int episodes, places;

  int rows() const { return episodes * places; }
};

/// A network with random weights and glimpses at K places of B episodes, as in GridLook.
struct GlimpseSituation {
  explicit GlimpseSituation(GlimpseBatch b)
      : batch(b),
        network(kGlimpseSizes, layout),
        parameters(zeros<1>(layout.size())),
        places(b.places, 2),
        glimpses(b.rows(), kGlimpseSizes.glimpse),
        dfeature(b.rows(), kGlimpseSizes.features) {
    randomize(flat(parameters), layout, 0.5F, 3);
    RandomStream stream(4, Purpose::scene, 0, 0);
    for (GuardedMatrix* m : {&places, &glimpses, &dfeature}) m->randomize(stream);
  }

  GlimpseBatch batch;
  ParameterLayout layout;
  GlimpseNetwork network;
  Tensor<1> parameters;
  GuardedMatrix places, glimpses, dfeature;
};

/// The general form, with each place repeated for every episode.
struct General {
  explicit General(const GlimpseSituation& s)
      : feature(s.batch.rows(), kGlimpseSizes.features),
        joint(s.batch.rows(), s.network.joint_size()),
        djoint(s.batch.rows(), s.network.joint_size()),
        dfeature(s.dfeature),
        locations(s.batch.rows(), 2),
        gradient(zeros<1>(s.layout.size())) {
    for (int r = 0; r < s.batch.rows(); ++r)
      for (int axis = 0; axis < 2; ++axis) locations(r, axis) = s.places(r % s.batch.places, axis);
    s.network.forward(feature.view(), joint.view(), s.glimpses.view(), locations.view(),
                      flat(s.parameters));
    s.network.activation_backward(djoint.view(), dfeature.view(), feature.view(), joint.view(),
                                  flat(s.parameters));
    weight_backward(s, 0.0F);
  }

  void weight_backward(const GlimpseSituation& s, float beta) {
    s.network.weight_backward(flat(gradient), djoint.view(), dfeature.view(), joint.view(),
                              s.glimpses.view(), locations.view(), beta);
  }

  GuardedMatrix feature, joint, djoint, dfeature, locations;
  Tensor<1> gradient;
};

TEST_CASE("glimpses at fixed places: features and gradients equal those of the general form") {
  for (const GlimpseBatch batch : {GlimpseBatch{1, 1}, {1, 6}, {4, 1}, {3, 4}, {5, 20}}) {
    CAPTURE(batch.episodes);
    CAPTURE(batch.places);
    const GlimpseSituation now(batch);
    const General general(now);

    GlimpseNetwork::Places places = now.network.make_places(now.places.view());
    GuardedMatrix feature(batch.rows(), kGlimpseSizes.features),
        what(batch.rows(), kGlimpseSizes.what);
    GuardedMatrix dwhat(batch.rows(), kGlimpseSizes.what);
    GuardedMatrix dfeature = now.dfeature;
    Tensor<1> gradient = zeros<1>(now.layout.size());
    for (int round = 0; round < 2; ++round) {  // the second round must not depend on the first
      dfeature = now.dfeature;
      gradient.fill(std::numeric_limits<float>::quiet_NaN());  // overwritten, not accumulated
      now.network.begin(places, flat(now.parameters));
      now.network.begin_backward(places);
      // The first episode by itself, then the others.
      for (int first = 0, rows = batch.places; first < batch.rows();
           first += rows, rows = batch.rows() - first) {
        const auto block = [&](auto& m) { return m.view().row_range(first, rows); };
        now.network.forward(block(feature), block(what), places, block(now.glimpses),
                            flat(now.parameters));
        now.network.backward(flat(gradient), block(dwhat), block(dfeature), places, block(feature),
                             block(what), block(now.glimpses), flat(now.parameters),
                             first == 0 ? 0.0F : 1.0F);
      }
      now.network.finish_backward(flat(gradient), places, flat(now.parameters));
      CHECK(relative_error(values_of(feature.view()), values_of(general.feature.view())) < 1e-5);
      CHECK(relative_error(values_of(dfeature.view()), values_of(general.dfeature.view())) < 1e-5);
      for (const Parameter& p : now.layout.parameters()) {
        CAPTURE(p.name);
        const auto expected = values_of(flat(general.gradient), p);
        CHECK(relative_error(values_of(flat(std::as_const(gradient)), p), expected) < 1e-5);
        CHECK(std::ranges::any_of(expected, [](float slope) { return slope != 0.0F; }));
      }
    }
  }
}

TEST_CASE("weight_backward with beta 1 accumulates") {
  const GlimpseSituation now({3, 4});
  General general(now);
  const Tensor<1> once = general.gradient;
  RandomStream stream(5, Purpose::scene, 0, 0);
  Tensor<1> there = zeros<1>(now.layout.size());
  for (float& slope : there) slope = stream.normal();
  general.gradient = there;
  general.weight_backward(now, 1.0F);
  for (const Parameter& p : now.layout.parameters()) {
    CAPTURE(p.name);
    std::vector<double> sum;
    for (std::size_t i = p.offset; i < p.offset + p.size(); ++i)
      sum.push_back(static_cast<double>(there[i]) + once[i]);
    CHECK(relative_error(values_of(flat(general.gradient), p), sum) < 1e-5);
  }
  general.gradient = there;
  general.weight_backward(now, 0.0F);
  for (const Parameter& p : now.layout.parameters())
    CHECK(std::ranges::equal(values_of(flat(general.gradient), p), values_of(flat(once), p)));
}

// The slope of sum(dfeature * feature) with respect to the inputs, at random inputs away from the
// kinks.
TEST_CASE(
    "location_backward and glimpse_backward are the slopes with respect to location and glimpse") {
  GlimpseSituation now({6, 1});
  const General general(now);
  GuardedMatrix dglimpse(6, kGlimpseSizes.glimpse), dlocation(6, 2);
  dglimpse.fill(std::numeric_limits<float>::quiet_NaN());
  dlocation.fill(std::numeric_limits<float>::quiet_NaN());
  now.network.location_backward(dlocation.view(), general.djoint.view(), flat(now.parameters));
  now.network.glimpse_backward(
      dglimpse.view(), general.djoint.view().columns(0, kGlimpseSizes.what), flat(now.parameters));

  GuardedMatrix locations = general.locations;
  const auto loss = [&] {
    GuardedMatrix feature(6, kGlimpseSizes.features), joint(6, now.network.joint_size());
    now.network.forward(feature.view(), joint.view(), now.glimpses.view(), locations.view(),
                        flat(now.parameters));
    double sum = 0.0;
    for (int r = 0; r < 6; ++r)
      for (int j = 0; j < kGlimpseSizes.features; ++j)
        sum += static_cast<double>(feature(r, j)) * now.dfeature(r, j);
    return sum;
  };
  const auto check_slopes = [&](GuardedMatrix& inputs, const GuardedMatrix& slopes) {
    constexpr float kStep = 1e-3F;
    std::vector<double> differences;
    for (int r = 0; r < 6; ++r)
      for (int j = 0; j < inputs.view().cols; ++j) {
        const float value = inputs(r, j);
        inputs(r, j) = value + kStep;
        const double above = loss();
        inputs(r, j) = value - kStep;
        differences.push_back((above - loss()) / (2.0 * kStep));
        inputs(r, j) = value;
      }
    CHECK(relative_error(values_of(slopes.view()), differences) < 2e-3);
  };
  check_slopes(now.glimpses, dglimpse);
  check_slopes(locations, dlocation);
}

}  // namespace
}  // namespace saccade
