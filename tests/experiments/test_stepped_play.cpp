#include "experiments/evaluation/stepped_play.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "experiments/evaluation/play.h"
#include "tests/experiments/npz.h"
#include "tests/experiments/support.h"
#include "tests/experiments/tiny_task.h"

namespace saccade {
namespace {

constexpr int kStepped = 130;  // two parts, the last with 30 scenes

struct Stepped {
  explicit Stepped(const TinyTask& tiny, SamplingMode sampling, int threads = 1)
      : workers(threads),
        play(tiny.task.model, flat(tiny.weights), tiny.task.environments(Split::test),
             {.scenes = kStepped, .sampling = sampling, .seed = tiny.task.config.evaluation.seed},
             workers) {}

  std::vector<float> locations(int t) const {
    std::vector<float> all(static_cast<std::size_t>(kStepped) * play.location_size());
    play.locations(t, all);
    return all;
  }
  std::vector<float> probabilities() const {
    std::vector<float> all(static_cast<std::size_t>(kStepped) * play.outputs() * play.classes());
    play.probabilities(all);
    return all;
  }

  Workers workers;
  SteppedPlay play;
};

// Row t of each scene of an array (N, T, ..).
std::vector<float> at_look(const std::vector<NpzArray>& arrays, const char* name, int t) {
  const auto array = std::ranges::find(arrays, name, &NpzArray::name);
  REQUIRE(array != arrays.end());
  const auto& values = std::get<std::vector<float>>(array->values);
  const std::size_t steps = array->shape[1], width = values.size() / (kStepped * steps);
  std::vector<float> rows;
  for (int n = 0; n < kStepped; ++n)
    std::copy_n(&values[(n * steps + t) * width], width, std::back_inserter(rows));
  return rows;
}

}  // namespace

TEST_CASE("steps are the looks of play(), bit for bit, for any number of threads") {
  const std::vector<Overrides> kinds = {
      {},
      {"attention.glimpse.kind=soft_point", "attention.hidden.kind=attend"},
      kSoftGrid,
      {"attention.glimpse.kind=soft_gaussian", "model.core=lstm"},
      kWordTask};
  for (const Overrides& kind : kinds)
    for (const SamplingMode sampling : {SamplingMode::deterministic, SamplingMode::sample}) {
      CAPTURE(kind.empty() ? "default" : kind[0]);
      const TinyTask tiny(kind);
      Workers workers(1);
      const std::vector<NpzArray> whole =
          play(tiny.task.model, flat(tiny.weights), tiny.task.environments(Split::test),
               {.scenes = kStepped, .sampling = sampling, .seed = tiny.task.config.evaluation.seed},
               workers)
              .take();
      Stepped one(tiny, sampling), two(tiny, sampling, 2);
      const int steps = tiny.task.model.num_glimpses();
      for (int t = 0; t < steps; ++t) {
        one.play.step();
        two.play.step();
        if (tiny.task.model.look().looks) CHECK(one.locations(t) == at_look(whole, "locations", t));
        if (!tiny.task.model.answer().spells)
          CHECK(one.probabilities() == at_look(whole, "probabilities", t));
        CHECK(one.probabilities() == two.probabilities());
      }
    }
}

TEST_CASE("a play goes back to an earlier look and on as if it had never been further") {
  const TinyTask tiny;
  Stepped straight(tiny, SamplingMode::sample), bent(tiny, SamplingMode::sample);
  straight.play.step();
  straight.play.step();
  bent.play.step();
  Tensor<2> corner = zeros<2>(kStepped, 2);
  corner.fill(0.5F);
  bent.play.step(matrix(corner));
  CHECK(bent.locations(1)[0] == 0.5F);
  CHECK(bent.probabilities() != straight.probabilities());
  bent.play.rewind(1);
  CHECK(bent.play.looks() == 1);
  bent.play.step();
  CHECK(bent.locations(1) == straight.locations(1));
  CHECK(bent.probabilities() == straight.probabilities());
  bent.play.rewind(0);
  bent.play.step();
  bent.play.step();
  CHECK(bent.probabilities() == straight.probabilities());
}

}  // namespace saccade
