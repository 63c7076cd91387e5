// init_from: a training that begins with the weights of another.
#include <doctest/doctest.h>

#include "agent/learning/checkpoint.h"
#include "nn/safetensors.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

const std::vector<std::string> kGrid = {"attention.glimpse.grid=[2, 3]",
                                        "attention.glimpse.stride=4"};

std::vector<std::string> with(std::vector<std::string> overrides, const std::string& more) {
  overrides.push_back(more);
  return overrides;
}

}  // namespace

TEST_CASE("a hard agent begins with what it shares with a trained soft one") {
  const TinyExperiment tiny;
  const auto soft = tiny.train("soft", with(kGrid, "attention.glimpse.kind=soft_grid"));
  // No update is so small as to leave a weight, but a learning rate of nothing is not allowed.
  auto overrides = with(kGrid, "attention.glimpse.kind=hard_categorical");
  overrides.insert(overrides.end(), {"init_from=" + soft.string(), "training.learning_rate=1e-30",
                                     "training.final_learning_rate=0"});
  const auto hard = tiny.train("hard", overrides);

  const SafetensorsFile source = read_safetensors(soft / kBest);
  const SafetensorsFile warm = read_safetensors(hard / kLast);
  int shared = 0, fresh = 0;
  for (const NamedTensor& tensor : warm.tensors) {
    if (tensor.name.find('/') != std::string::npos) continue;  // the weights themselves
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

TEST_CASE("a warm start that cannot be is refused before a folder is made") {
  const TinyExperiment tiny;
  const auto source = tiny.train("source");
  const auto fault = [&](const std::vector<std::string>& overrides) {
    const std::string message =
        message_of<InputError>([&] { run(tiny.options("other", overrides), false); });
    CHECK(!std::filesystem::exists(tiny.path / "other"));
    return message;
  };
  const std::string other_shape = fault({"init_from=" + source.string(), "model.feature_size=9"});
  CHECK(contains(other_shape, "init_from: "));
  CHECK(contains(other_shape, "glimpse.joint.weight"));
  CHECK(contains(fault({"init_from=" + (tiny.path / "nowhere").string()}), "init_from: "));
}

}  // namespace saccade
