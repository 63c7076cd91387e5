// init_from: a training that starts from the weights of another.
#include <doctest/doctest.h>

#include "agent/learning/checkpoint.h"
#include "nn/safetensors.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

const Names kGrid = {"attention.glimpse.grid=[2, 3]", "attention.glimpse.stride=4"};

}  // namespace

TEST_CASE("a hard agent starts from the weights it shares with a trained soft one") {
  const TinyExperiment tiny;
  const auto soft = tiny.train("soft", with(kGrid, {"attention.glimpse.kind=soft_grid"}));
  // A learning rate of zero is not allowed; this one is too small to change a weight.
  const auto hard = tiny.train(
      "hard", with(kGrid, {"attention.glimpse.kind=hard_categorical", "init_from=" + soft.string(),
                           "training.learning_rate=1e-30", "training.final_learning_rate=0"}));

  const SafetensorsFile source = read_safetensors(soft / kBest);
  const SafetensorsFile warm = read_safetensors(hard / kLast);
  int shared = 0, fresh = 0;
  for (const NamedTensor& tensor : warm.tensors) {
    if (tensor.name.find('/') != std::string::npos) continue;  // only the weights themselves
    const auto found = std::ranges::find(source.tensors, "ema/" + tensor.name, &NamedTensor::name);
    if (found == source.tensors.end()) {
      ++fresh;
      CHECK((tensor.name.starts_with("locator.") || tensor.name.starts_with("baseline.")));
      continue;
    }
    ++shared;
    CAPTURE(tensor.name);
    CHECK(std::ranges::equal(tensor.data, found->data));
  }
  CHECK(shared >= 10);
  CHECK(fresh == 6);  // locator.hidden, locator.logits, baseline: a weight and a bias each
  CHECK(contains(bytes_of(hard / "config.yaml"), "init_from: " + soft.string()));
}

TEST_CASE("parameters of another shape start anew and are reported, and --strict refuses them") {
  const TinyExperiment tiny;
  const auto source = tiny.train("source");
  const Overrides overrides = {"init_from=" + source.string(), "model.feature_size=9",
                               "training.freeze=[glimpse.what]"};
  const auto other = tiny.train("other", overrides);
  const SafetensorsFile warm = read_safetensors(other / kLast);
  const SafetensorsFile from = read_safetensors(source / kBest);
  CHECK(std::ranges::equal(warm.find("glimpse.what.weight").data,
                           from.find("ema/glimpse.what.weight").data));

  RunRequest options = tiny.options("strict", overrides);
  options.strict = true;
  const std::string message = message_of<InputError>([&] { run(options, false); });
  check_contains(message, {"--strict: init_from: ", "glimpse.joint.weight: ("});
  CHECK(!fs::exists(tiny.path / "strict"));
}

TEST_CASE("frozen parts stay unchanged, and the rest learns as if they had no gradient") {
  const TinyExperiment tiny;
  const auto first = tiny.train("first");
  for (const std::string optimizer : {"adam", "adamw", "sgd"}) {
    const auto run =
        tiny.train(optimizer, {"init_from=" + first.string(), "training.freeze=[core, glimpse]",
                               "training.weight_decay=0.1", "training.optimizer=" + optimizer});
    const SafetensorsFile source = read_safetensors(first / kBest);
    for (const NamedTensor& tensor : read_safetensors(run / kLast).tensors) {
      CAPTURE(tensor.name);
      if (tensor.name.starts_with("core.") || tensor.name.starts_with("glimpse."))
        CHECK(std::ranges::equal(tensor.data, source.find("ema/" + tensor.name).data));
      else if (tensor.name.starts_with("classifier."))
        CHECK_FALSE(std::ranges::equal(tensor.data, source.find("ema/" + tensor.name).data));
    }
  }
}

TEST_CASE("an impossible warm start is refused before a folder is made") {
  const TinyExperiment tiny;
  const auto fault = [&](const Overrides& overrides) {
    const std::string message =
        message_of<InputError>([&] { run(tiny.options("other", overrides), false); });
    CHECK(!fs::exists(tiny.path / "other"));
    return message;
  };
  CHECK(contains(fault({"training.freeze=[cor]"}),
                 "training.freeze: 'cor' is not a part of this model; allowed: glimpse, core, "));
  CHECK(contains(fault({"init_from=" + (tiny.path / "nowhere").string()}), "init_from: "));
}

}  // namespace saccade
