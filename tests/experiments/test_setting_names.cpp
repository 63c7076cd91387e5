// What people type, and what they may mean.
#include "experiments/config/setting_names.h"

#include <doctest/doctest.h>

#include <set>

#include "experiments/config/config.h"
#include "experiments/files/shipped.h"

namespace saccade {
namespace {

TEST_CASE("common terms of the field find their settings") {
  const Names keys = setting_keys();
  CHECK(nearest_key("lr", keys) == "training.learning_rate");
  CHECK(nearest_key("epochs", keys) == "training.episodes");
  CHECK(nearest_key("batch", keys) == "training.batch_size");
  CHECK(nearest_key("glimpses", keys) == "attention.glimpse.num_glimpses");
  CHECK(nearest_key("trainig.episodes", keys) == "training.episodes");
  CHECK(nearest_key("hidden_size", keys) == "model.hidden_size");
  CHECK(nearest_key("lr", {"model.core", "scene.canvas"}) != "training.learning_rate");
}

TEST_CASE("a word matches a setting by its name, its ending or an alias, otherwise none") {
  const Names keys = setting_keys();
  CHECK(meant_key("seed", keys) == "seed");
  CHECK(meant_key("patch_size", keys) == "retina.patch_size");
  CHECK(meant_key("lr", keys) == "training.learning_rate");
  CHECK_FALSE(meant_key("patchsize", keys));
}

TEST_CASE("a word with few typos finds its match") {
  const Names commands = {"run", "record", "eval", "compare"};
  CHECK(nearest_word("recrod", commands) == "record");
  CHECK(nearest_word("evla", commands) == "eval");
  CHECK(nearest_word("compair", commands) == "compare");
  CHECK(nearest_word("rn", commands) == "run");
  CHECK_FALSE(nearest_word("xyz", commands));
  CHECK_FALSE(nearest_word("", commands));
  CHECK(nearest_word("hard_gausian", {"soft_gaussian", "hard_gaussian"}) == "hard_gaussian");
}

TEST_CASE("every setting has a unique short name") {
  std::set<std::string> names;
  for (const std::string& key : setting_keys()) {
    CAPTURE(key);
    CHECK(names.insert(short_name(key)).second);
  }
  CHECK(short_name("attention.glimpse.kind") == "glimpse.kind");
  CHECK(short_name("training.episodes") == "training.episodes");
  CHECK(short_name("seed") == "seed");
}

TEST_CASE("shipped files are found only by name") {
  CHECK(shipped_experiment("quickstart").filename() == "quickstart.yaml");
  CHECK(shipped_experiment("experiments/quickstart").empty());
  CHECK(shipped_experiment("nothing").empty());
  CHECK(shipped_experiment("").empty());
}

}  // namespace
}  // namespace saccade
