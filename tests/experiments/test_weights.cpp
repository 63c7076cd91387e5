#include <doctest/doctest.h>

#include "experiments/analysis/evaluate.h"
#include "experiments/evaluation/attention_weights.h"
#include "experiments/files/npz.h"
#include "experiments/pictures/weight_table.h"
#include "tests/experiments/npz.h"
#include "tests/experiments/support.h"
#include "tests/experiments/tiny_task.h"

namespace saccade {
namespace {

const Overrides kSoftWeights =
    with(kSoftGrid,
         {"attention.input.kind=gate", "attention.hidden.kind=self", "attention.hidden.hops=2"});
// The attention of all test scenes of a tiny task, written and read back.
ReadNpz written(const TinyTask& tiny, int scenes, int threads = 1) {
  AttentionWeights attention(tiny.task.model, scenes);
  tiny.evaluate(scenes, threads, {.attention = &attention});
  attention.write(tiny.folder.path / "a.npz");
  return ReadNpz(tiny.folder.path / "a.npz");
}

}  // namespace

TEST_CASE("an npz file holds its arrays by name, and the same arrays give the same bytes") {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name) {
    NpzArray floats = float_array("a", {2, 3});
    std::get<std::vector<float>>(floats.values) = {0.5F, -1, 2, 3, 4, 5};
    write_npz(folder.path / name, {floats, int_array("b", {4}, -1)});
    return bytes_of(folder.path / name);
  };
  CHECK(write("x.npz") == write("y.npz"));
  const ReadNpz read(folder.path / "x.npz");
  CHECK(read.names() == Names{"a", "b"});
  CHECK(read.get("a") == xt::xarray<float>{{0.5F, -1, 2}, {3, 4, 5}});
  CHECK(read.get<int>("b") == xt::xarray<int>{-1, -1, -1, -1});
  CHECK_THROWS_AS(write_npz(folder.path / "none" / "x.npz", {int_array("b", {4}, -1)}),
                  std::runtime_error);
}

TEST_CASE("the weights of a soft agent are those of its looks, gate and hidden attention") {
  const TinyTask tiny(kSoftWeights);
  const ReadNpz read = written(tiny, 130);
  CHECK(read.names() ==
        Names{"answers", "errors", "gate", "glimpse_weights", "hidden", "labels", "locations"});
  const xt::xarray<float> weights = read.get("glimpse_weights"), gate = read.get("gate"),
                          hidden = read.get("hidden"), locations = read.get("locations");
  CHECK(shape_of(weights) == NpzShape{130, 3, 6});
  CHECK(shape_of(gate) == NpzShape{130, 3, 8});
  CHECK(shape_of(hidden) == NpzShape{130, 2, 3});
  const auto rollout = tiny.play(130);
  const StateWeights states = rollout->answer->state_weights();
  const xt::xarray<int> labels = read.get<int>("labels"), answers = read.get<int>("answers");
  const xt::xarray<float> errors = read.get("errors");
  for (int b = 0; b < 130; ++b) {
    CHECK(labels(b) == rollout->answer->labels(b)[0]);
    CHECK(answers(b) == rollout->answer->predictions(b)[0]);
    CHECK(errors(b) == rollout->answer->error(b));
    for (int t = 0; t < 3; ++t) {
      CHECK(locations(b, t, 1) == rollout->look->locations(t, b, 1));
      CHECK(weights(b, t, 5) == rollout->look->actions(t, b, 5));
      CHECK(gate(b, t, 7) == rollout->gate->weights(t, b, 7));
      CHECK(hidden(b, 1, t) == (*states.weights)(2, b, 3 + t));
    }
  }
}

TEST_CASE("the weights of a decoder are its alignment, up to the end mark") {
  const TinyTask tiny(kWordTask);
  const ReadNpz read = written(tiny, 120, 2);
  CHECK(read.names() == Names{"alignment", "answers", "errors", "labels"});
  const int symbols = tiny.task.model.answer().answer_size, steps = tiny.task.model.num_glimpses();
  const xt::xarray<float> alignment = read.get("alignment");
  const xt::xarray<int> labels = read.get<int>("labels"), answers = read.get<int>("answers");
  REQUIRE(alignment.shape()[1] == static_cast<std::size_t>(symbols));
  REQUIRE(alignment.shape()[2] == static_cast<std::size_t>(steps));
  const auto rollout = tiny.play(120, {});
  for (int b = 0; b < 120; ++b) {
    const auto own = rollout->answer->labels(b);
    for (int j = 0; j < symbols; ++j) {
      CHECK(labels(b, j) == (j < static_cast<int>(own.size()) ? own[j] : -1));
      float sum = 0.0F;
      for (int t = 0; t < steps; ++t) sum += alignment(b, j, t);
      const bool spoken = j == 0 || answers(b, j - 1) >= 0;  // the end mark has weights as well
      CHECK(sum == doctest::Approx(spoken ? 1.0 : 0.0));
    }
  }
}

TEST_CASE("each kind of agent has exactly its own arrays") {
  const auto names = [](const Overrides& overrides) {
    return written(TinyTask(overrides), 3).names();
  };
  CHECK(names({}) == Names{"answers", "errors", "labels", "locations"});
  CHECK(names({"attention.glimpse.kind=soft_gaussian"}) ==
        Names{"answers", "errors", "labels", "locations", "windows"});
  CHECK(names({"model.kind=mlp"}) == Names{"answers", "errors", "labels"});
  CHECK(names(kCatchTask) == Names{"answers", "errors", "locations"});
  const TinyTask tiny({"model.core=attention", "model.heads=3", "model.depth=2"});
  const xt::xarray<float> core = written(tiny, 3).get("core");
  CHECK(shape_of(core) == NpzShape{3, 3, 6, 3});
  CHECK(core(1, 0, 5, 0) == doctest::Approx(1.0));
  CHECK(core(1, 0, 5, 1) == 0.0F);
  CHECK(core(2, 2, 0, 0) + core(2, 2, 0, 1) + core(2, 2, 0, 2) == doctest::Approx(1.0));
}

TEST_CASE("pictures of attention over states label the predictions and mark the look") {
  const TinyTask words(kWordTask);
  const auto spoken = words.play(4);
  const Tensor<3> none = zeros<3>(2, 4, 20);
  const Episode text{*spoken, none, 1};
  const WeightTable alignment = state_weights(words.task, text, 1);
  const std::span<const int> said = text.predictions();
  const int digits = spoken->environment->facts()[1].num_digits;
  CHECK(alignment.rows.size() == std::min<std::size_t>(said.size() + 1, 3));
  if (!said.empty()) CHECK(alignment.rows[0] == words.task.class_name(said[0]));
  if (said.size() < 3) CHECK(alignment.rows.back() == "<end>");
  REQUIRE(alignment.cols.size() == 2);
  CHECK(alignment.cols[1].empty() == (digits == 1));
  CHECK(alignment.marked == 1);
  CHECK(alignment.at(0, 0) == (*spoken->answer->state_weights().weights)(0, 1, 0));

  const TinyTask hops(kSoftWeights);
  const auto looked = hops.play(2);
  const WeightTable table = state_weights(hops.task, {*looked, none, 0}, 2);
  CHECK(table.rows == Names{"1", "2"});
  CHECK(table.cols == Names{"1", "2", "3"});
  CHECK(table.at(1, 0) == (*looked->answer->state_weights().weights)(2, 0, 3));
  const TableSize size = table_size(hops.task, 10);
  Picture picture(size.rows + 20, size.cols, {255, 255, 255});
  draw_table(picture, table, {0, 0, size.cols, size.rows}, 10);
  CHECK(picture.at({size.cols - 12, size.rows - 5}) != Colour{255, 255, 255});  // the last cell
  CHECK(picture.at({size.cols / 2, size.rows + 10}) == Colour{255, 255, 255});
}

TEST_CASE("eval writes the weights beside the table, the same for any number of threads") {
  const TinyExperiment tiny;
  const fs::path run = tiny.train("out"), one = tiny.path / "1.npz", two = tiny.path / "2.npz";
  const std::string table = to_text(evaluate({.run_folder = run, .threads = 1}).table);
  CHECK(to_text(evaluate({.run_folder = run, .weights = one, .threads = 1}).table) == table);
  evaluate({.run_folder = run, .weights = two, .threads = 3});
  CHECK(bytes_of(one) == bytes_of(two));
  CHECK(shape_of(ReadNpz(one).get("locations")) == NpzShape{150, 3, 2});
  CHECK_FALSE(has_name_beside(tiny.path));
}

TEST_CASE(
    "eval refuses to write weights over a file, with another suffix, or beyond the size limit") {
  const TinyExperiment tiny;
  const fs::path there = tiny.path / "there.npz";
  put_bytes(there, "old");
  const auto fault = [&](const EvaluateRequest& options) {
    return message_of<InputError>([&] { evaluate(options); });
  };
  // Checked before the run folder, which does not exist.
  CHECK(fault({.run_folder = tiny.path / "none", .weights = there}) ==
        there.string() + ": exists already; --weights names another file");
  CHECK(bytes_of(there) == "old");
  CHECK(contains(fault({.run_folder = tiny.path / "none", .weights = tiny.path / "a.npy"}),
                 "unknown suffix '.npy'; allowed: .npz"));
  const fs::path run = tiny.train("out"), large = tiny.path / "large.npz";
  CHECK(contains(fault({.run_folder = run, .on = {.test_scenes = 100'000'000}, .weights = large}),
                 "--episodes 100000000: their attention takes 2.8 GB; allowed: at most 2 GB"));
  CHECK(!fs::exists(large));
}

}  // namespace saccade
