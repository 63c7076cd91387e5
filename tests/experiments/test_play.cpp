#include "experiments/evaluation/play.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/experiments/npz.h"
#include "tests/experiments/support.h"
#include "tests/experiments/tiny_task.h"

namespace saccade {
namespace {

const std::vector<Overrides> kKinds = {
    {},        {"attention.glimpse.kind=soft_point"},
    kSoftGrid, {"attention.glimpse.kind=soft_gaussian", "attention.hidden.kind=attend"},
    kWordTask, kCatchTask};

std::vector<NpzArray> played(const TinyTask& tiny, PlayRequest request, int threads = 1) {
  Workers workers(threads);
  request.seed = tiny.task.config.evaluation.seed;
  return play(tiny.task.model, flat(tiny.weights), tiny.task.environments(Split::test), request,
              workers)
      .take();
}

const NpzArray* find(const std::vector<NpzArray>& arrays, const std::string& name) {
  const auto found = std::ranges::find(arrays, name, &NpzArray::name);
  return found == arrays.end() ? nullptr : &*found;
}

const std::vector<float>& floats(const std::vector<NpzArray>& arrays, const std::string& name) {
  const NpzArray* array = find(arrays, name);
  REQUIRE(array != nullptr);
  return std::get<std::vector<float>>(array->values);
}

}  // namespace

TEST_CASE("play gives what an evaluation sees, bit for bit, for any number of threads") {
  for (const Overrides& kind : kKinds) {
    CAPTURE(kind.empty() ? "default" : kind[0]);
    const TinyTask tiny(kind);
    AttentionWeights attention(tiny.task.model, 130);
    tiny.evaluate(130, 1, {.details = true, .attention = &attention});
    const std::vector<NpzArray> expected = attention.take();
    for (const int threads : {1, 2}) {
      const std::vector<NpzArray> arrays = played(tiny, {.scenes = 130}, threads);
      for (const NpzArray& array : expected) {
        CAPTURE(array.name);
        const NpzArray* same = find(arrays, array.name);
        REQUIRE(same != nullptr);
        CHECK(same->shape == array.shape);
        CHECK((same->values == array.values));
      }
    }
  }
}

TEST_CASE("play: probabilities belong to the answers, glimpses to what was seen") {
  const TinyTask tiny;
  const std::vector<NpzArray> arrays = played(tiny, {.scenes = 3});
  const int steps = tiny.task.model.num_glimpses(), classes = tiny.task.model.num_classes();
  const int width = tiny.task.retina->glimpse_size();
  Rollout rollout(tiny.task.model, tiny.task.environments(Split::test)(3, 1));
  rollout.run(flat(tiny.weights), {.seed = TinyTask::kSeed,
                                   .sampling = SamplingMode::deterministic,
                                   .classify_every_step = true});
  const std::vector<float>& p = floats(arrays, "probabilities");
  const std::vector<float>& seen = floats(arrays, "glimpses");
  REQUIRE(p.size() == static_cast<std::size_t>(3 * steps * classes));
  REQUIRE(seen.size() == static_cast<std::size_t>(3 * steps * width));
  for (int b = 0; b < 3; ++b)
    for (int t = 0; t < steps; ++t) {
      for (int c = 0; c < classes; ++c)
        CHECK(p[(b * steps + t) * classes + c] ==
              doctest::Approx(rollout.answer->probabilities(t, b, c)));
      for (int i = 0; i < width; ++i)
        CHECK(seen[(b * steps + t) * width + i] == rollout.look->glimpses(t, b, i));
    }
}

}  // namespace saccade
