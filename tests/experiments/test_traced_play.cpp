// That the gradients are those of differences is tested in tests/agent/test_jacobian.cpp.
#include "experiments/evaluation/traced_play.h"

#include <doctest/doctest.h>

#include <cmath>

#include "experiments/evaluation/play.h"
#include "experiments/evaluation/saliency_arrays.h"
#include "tests/experiments/npz.h"
#include "tests/experiments/tiny_task.h"

namespace saccade {
namespace {

constexpr int kTraced = 70;  // three parts, the last with 6 scenes

struct Traced {
  explicit Traced(const TinyTask& tiny, int scenes = kTraced, int threads = 1)
      : workers(threads),
        trace(tiny.task.model, flat(tiny.weights), tiny.task.environments(Split::test),
              {.scenes = scenes, .seed = tiny.task.config.evaluation.seed}, workers),
        gradient(tiny.task.model.layout().size()),
        dcanvases(static_cast<std::size_t>(scenes) * tiny.task.model.canvas().pixels()),
        logits(static_cast<std::size_t>(scenes) * trace.outputs() * trace.classes()) {
    trace.logits(logits);
  }
  void backward(std::span<const float> dlogits) { trace.backward(gradient, dcanvases, dlogits); }

  Workers workers;
  TracedPlay trace;
  std::vector<float> gradient, dcanvases, logits;
};

std::vector<float> factors(std::size_t count) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = std::cos(1.3F * static_cast<float>(i));
  return all;
}

std::vector<Overrides> kinds() {
  return {{}, {"attention.glimpse.kind=soft_point"}, kSoftGrid, kWordTask};
}

}  // namespace

TEST_CASE("a trace is the same for any number of threads, and can be differentiated again") {
  for (const Overrides& kind : kinds()) {
    CAPTURE(kind.empty() ? "default" : kind[0]);
    const TinyTask tiny(kind);
    Traced one(tiny), two(tiny, kTraced, 2);
    const std::vector<float> dlogits = factors(one.logits.size());
    CHECK(one.logits == two.logits);
    one.backward(std::vector<float>(one.logits.size(), 1.0F));
    one.backward(dlogits);
    two.backward(dlogits);
    CHECK(one.gradient == two.gradient);
    CHECK(one.dcanvases == two.dcanvases);
    CHECK(std::ranges::any_of(one.gradient, [](float x) { return x != 0.0F; }));
  }
}

TEST_CASE("a trace has the logits and the derivatives by the canvas of the saliency") {
  const TinyTask tiny({"attention.glimpse.kind=soft_point"});
  const std::uint64_t seed = tiny.task.config.evaluation.seed;
  const int last = tiny.task.model.num_glimpses() - 1;
  const std::vector<NpzArray> wanted =
      saliency_arrays(tiny.task.model, flat(tiny.weights), tiny.task.environments(Split::test),
                      kTraced, seed, {last});
  const auto array = [&](const char* name) -> const auto& {
    return std::ranges::find(wanted, name, &NpzArray::name)->values;
  };
  const auto& chosen = std::get<std::vector<int>>(array("chosen"));
  const auto& logits = std::get<std::vector<float>>(array("logits"));
  Traced traced(tiny);
  std::vector<float> dlogits(traced.logits.size());
  for (int n = 0; n < kTraced; ++n) {
    const int place = (n * traced.trace.outputs() + last) * traced.trace.classes() + chosen[n];
    dlogits[place] = 1.0F;
    CHECK(traced.logits[place] == doctest::Approx(logits[n]));
  }
  traced.backward(dlogits);
  const auto& canvases = std::get<std::vector<float>>(array("canvas_jacobian"));
  REQUIRE(canvases.size() == traced.dcanvases.size());
  for (std::size_t i = 0; i < canvases.size(); ++i)
    CHECK(traced.dcanvases[i] == doctest::Approx(canvases[i]).epsilon(1e-4));
}

TEST_CASE("scenes that fill the last part up count nothing") {
  const TinyTask tiny;
  Traced traced(tiny), fewer(tiny, 64);
  std::vector<float> dlogits = factors(traced.logits.size());
  std::fill(dlogits.begin() + fewer.logits.size(), dlogits.end(), 0.0F);
  traced.backward(dlogits);
  fewer.backward(std::span(dlogits).first(fewer.logits.size()));
  CHECK(traced.gradient == fewer.gradient);
}

}  // namespace saccade
