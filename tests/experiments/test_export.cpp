// Exports of trained agents. That an .onnx file computes the same as the agent is tested from
// Python (tests/python/test_export.py), where a runtime exists.
#include "experiments/export/export_agent.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>

#include "agent/answering/stopping.h"
#include "agent/learning/checkpoint.h"
#include "experiments/analysis/evaluate.h"
#include "experiments/export/onnx_model.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/trained.h"
#include "nn/half.h"
#include "tests/experiments/npz.h"
#include "tests/experiments/tiny_task.h"

namespace saccade {
namespace {

std::string export_fault(const ExportRequest& options) {
  return message_of<InputError>([&] { export_agent(options); });
}

onnx::ModelProto model_of(const TinyTask& tiny, OnnxExtent extent) {
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(onnx_model(tiny.task, flat(tiny.weights), extent)));
  return model;
}

std::set<std::string> names_of(const auto& values) {
  std::set<std::string> names;
  for (const auto& value : values) names.insert(value.name());
  return names;
}

// Checks that the model is well-formed, and that every input and constant is used.
void check_model(const onnx::ModelProto& model) {
  CHECK_NOTHROW(onnx::checker::check_model(model));
  std::set<std::string> read;
  for (const auto& node : model.graph().node())
    read.insert(node.input().begin(), node.input().end());
  for (const auto& name : names_of(model.graph().input())) CHECK(read.contains(name));
  for (const auto& name : names_of(model.graph().initializer())) CHECK(read.contains(name));
}

void check_exports(const Overrides& overrides, bool unrolls = true) {
  const TinyTask tiny(overrides);
  check_model(model_of(tiny, OnnxExtent::step));
  if (unrolls) check_model(model_of(tiny, OnnxExtent::episode));
}

}  // namespace

TEST_CASE("export --agent writes a run folder with only the averaged weights") {
  const TinyExperiment tiny;
  const fs::path run = tiny.train("run"), agent = tiny.path / "agent";
  CHECK(export_agent({.run_folder = run, .agent = agent}) == std::vector{agent});
  CHECK(fs::file_size(agent / kBest) < fs::file_size(run / kBest) * 2 / 3);
  CHECK(to_json(evaluate({.run_folder = agent})) == to_json(evaluate({.run_folder = run})));
  CHECK(is_finished(RunFolder(agent)));
  CHECK(read_finished_run(agent).error == read_finished_run(run).error);
  CHECK(contains(export_fault({.run_folder = run, .agent = agent}), "exists already"));
  fs::remove(run / "summary.json");
  CHECK(
      contains(export_fault({.run_folder = run, .agent = tiny.path / "other"}), "no finished run"));
  CHECK_FALSE(fs::exists(tiny.path / "other"));
}

TEST_CASE("export gives a well-formed model for every core and way of looking") {
  for (const std::string& core : core_kinds()) {
    CAPTURE(core);
    check_exports({"model.core=" + core, "model.heads=2"});
  }
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    check_exports(with_kind(kind), kind != "random" && kind != "oracle");
  }
  for (const std::string& stop : stop_kinds()) {
    CAPTURE(stop);
    const Overrides stops = {"attention.glimpse.stop=" + stop};
    check_exports(stops, stop == "none");
    const auto outputs = names_of(model_of(TinyTask(stops), OnnxExtent::step).graph().output());
    CHECK(outputs.contains("stop") == find_stop_kind(stop).learned());
  }
  for (const std::string& kind : hidden_kinds()) {
    CAPTURE(kind);
    check_exports({"attention.hidden.kind=" + kind});
  }
  for (const std::string kind : {"mlp", "cnn"}) {
    CAPTURE(kind);
    check_exports(with_model(kind));
  }
  check_exports(with_kind("soft_point", {"attention.glimpse.spread=1"}));
  check_exports({"attention.input.kind=gate"});
  check_exports({"model.context=thumbnail", "model.context_size=12"});
}

TEST_CASE("an exported step has inputs and outputs for all state that its agent carries") {
  const auto check_ends = [](const Overrides& overrides, const std::set<std::string>& inputs,
                             const std::set<std::string>& outputs) {
    const onnx::ModelProto model = model_of(TinyTask(overrides), OnnxExtent::step);
    CHECK(names_of(model.graph().input()) == inputs);
    CHECK(names_of(model.graph().output()) == outputs);
  };
  check_ends({"reinforce.advantage=learned"}, {"glimpse", "location", "state", "cell"},
             {"log_probabilities", "baseline", "next_location", "next_state", "next_cell"});
  check_ends({"model.core=feedforward", "attention.hidden.kind=mean"},
             {"glimpse", "location", "states"},
             {"log_probabilities", "next_location", "next_state", "next_states"});
  check_ends({"model.core=attention", "model.heads=2", "attention.glimpse.spread=1",
              "attention.glimpse.first=center"},
             {"glimpse", "location", "step", "keys0", "values0"},
             {"log_probabilities", "next_location", "first_location", "next_state", "next_keys0",
              "next_values0"});
  check_ends(with_kind("soft_grid", {"model.core=gru"}), {"candidates", "weights", "state"},
             {"log_probabilities", "next_location", "next_weights", "first_location",
              "first_weights", "next_state"});

  for (const std::string kind : {"hard_gaussian", "random", "oracle"}) {
    CAPTURE(kind);
    const TinyTask tiny(with_kind(kind, {"reinforce.advantage=learned"}));
    REQUIRE(tiny.task.model.baseline.has_value());  // which a control has, and does not train
    CHECK(names_of(model_of(tiny, OnnxExtent::step).graph().output()).contains("baseline") ==
          (kind == "hard_gaussian"));
  }
}

TEST_CASE("an exported model keeps the weights under their names, and records its origin") {
  const TinyTask tiny;
  const onnx::ModelProto model = model_of(tiny, OnnxExtent::step);
  const ParameterLayout& layout = tiny.task.model.layout();
  std::size_t found = 0;
  for (const onnx::TensorProto& tensor : model.graph().initializer())
    for (const Parameter& p : layout.parameters()) {
      if (p.name != tensor.name()) continue;
      ++found;
      REQUIRE(tensor.dims_size() == 2);
      CHECK(tensor.dims(0) == p.rows);
      CHECK(tensor.dims(1) == p.cols);
      const std::string bytes(reinterpret_cast<const char*>(tiny.weights.data() + p.offset),
                              p.size() * sizeof(float));
      CHECK((tensor.raw_data() == bytes));
    }
  CHECK(found == layout.parameters().size() - 2);  // except those of an unused baseline

  std::map<std::string, std::string> properties;
  for (const auto& entry : model.metadata_props()) properties[entry.key()] = entry.value();
  CHECK(properties.at("saccade.config") == to_yaml(tiny.task.config));
  CHECK(properties.at("saccade.num_glimpses") == "3");
  CHECK(nlohmann::json::parse(properties.at("saccade.classes")).size() ==
        static_cast<std::size_t>(tiny.task.model.num_classes()));
  for (const auto& input : model.graph().input())
    CHECK(properties.at("input." + input.name()) == input.doc_string());
}

TEST_CASE("an agent that cannot be expressed in ONNX is refused by its setting") {
  const auto refused = [](const Overrides& overrides, OnnxExtent extent) {
    const TinyTask tiny(overrides);
    return message_of<InputError>([&] { onnx_model(tiny.task, flat(tiny.weights), extent); });
  };
  CHECK(refused({"scene.kind=transcribe", "scene.canvas=[13, 40]", "scene.num_digits=2",
                 "decoder.hidden_size=6"},
                OnnxExtent::step)
            .starts_with("scene.kind: transcribe is answered with a sequence"));
  CHECK(refused({"scene.kind=catch", "scene.canvas=[8, 9]", "scene.num_distractors=0",
                 "attention.glimpse.num_glimpses=7"},
                OnnxExtent::episode)
            .starts_with("scene.kind: catch changes while it is looked at"));
  const Overrides bag = {"scene.kind=bag", "scene.canvas=[13, 40]", "scene.num_digits=2",
                         "scene.num_distractors=0"};
  CHECK(refused(bag, OnnxExtent::episode)
            .starts_with("attention.glimpse.num_glimpses: 3, where an episode of scene.kind: bag"));
  check_exports(bag, /*unrolls=*/false);
  check_exports(with(bag, {"attention.glimpse.num_glimpses=2"}));
  CHECK(refused(with_kind("oracle"), OnnxExtent::episode)
            .starts_with("attention.glimpse.kind: oracle does not look by itself"));
}

TEST_CASE("export writes the averaged weights of the best checkpoint atomically") {
  const TrainedTiny tiny;
  const auto before = contents(tiny.run);
  const fs::path npz = tiny.path / "weights.npz", onnx = tiny.path / "agent.onnx";
  CHECK(export_agent({.run_folder = tiny.run, .npz = npz, .onnx = onnx}) == std::vector{npz, onnx});
  CHECK(contents(tiny.run) == before);
  const Trained trained(tiny.run);
  const ReadNpz arrays(npz);
  CHECK(arrays.names().size() == trained.task.model.layout().parameters().size());
  for (const Parameter& p : trained.task.model.layout().parameters()) {
    CAPTURE(p.name);
    const xt::xarray<float> array = arrays.get(p.name);
    CHECK(shape_of(array) ==
          NpzShape{static_cast<std::size_t>(p.rows), static_cast<std::size_t>(p.cols)});
    CHECK(std::equal(array.begin(), array.end(), trained.weights.data() + p.offset));
  }

  const std::string first = bytes_of(onnx);
  CHECK(
      contains(export_fault({.run_folder = tiny.run, .onnx = onnx}), "agent.onnx: exists already"));
  const fs::path fresh = tiny.path / "fresh.npz";
  CHECK(contains(export_fault({.run_folder = tiny.run, .npz = fresh, .onnx = onnx}),
                 "exists already"));
  CHECK_FALSE(fs::exists(fresh));
  export_agent({.run_folder = tiny.run, .onnx = onnx, .unrolled = true, .force = true});
  CHECK((bytes_of(onnx) != first));
  export_agent({.run_folder = tiny.run / kBest, .onnx = onnx, .force = true});
  CHECK((bytes_of(onnx) == first));
}

TEST_CASE("export --agent --half halves the weights, and they stay as they are from then on") {
  const TinyExperiment tiny;
  const fs::path run = tiny.train("run"), single = tiny.path / "single", half = tiny.path / "half";
  export_agent({.run_folder = run, .agent = single});
  export_agent({.run_folder = run, .agent = half, .half = true});
  const SafetensorsFile before = read_safetensors(single / kBest);
  const SafetensorsFile after = read_safetensors(half / kBest);
  CHECK(before.precision == Precision::single);
  CHECK(after.precision == Precision::half);
  CHECK(fs::file_size(single / kBest) - fs::file_size(half / kBest) >= 2 * after.storage.size());
  REQUIRE(before.tensors.size() == after.tensors.size());
  for (const NamedTensor& tensor : after.tensors)
    CHECK(std::ranges::equal(
        tensor.data, before.find(tensor.name).data,
        [](float rounded, float exact) { return rounded == from_half(to_half(exact)); }));
  CHECK_NOTHROW(evaluate({.run_folder = half}));

  const fs::path copy = tiny.path / "copy";
  export_agent({.run_folder = half, .agent = copy});
  CHECK(bytes_of(copy / kBest) == bytes_of(half / kBest));
}

TEST_CASE("export refuses invalid requests before writing anything") {
  const TrainedTiny tiny({"attention.glimpse.kind=random"});
  const fs::path npz = tiny.path / "weights.npz", onnx = tiny.path / "agent.onnx";
  CHECK(export_fault({.run_folder = tiny.run}) ==
        "nothing to write; allowed: --npz FILE, --onnx FILE, --agent DIR, --web DIR");
  CHECK(contains(export_fault({.run_folder = tiny.run, .npz = npz, .unrolled = true}),
                 "--unrolled: has no effect"));
  CHECK(export_fault({.run_folder = tiny.run, .npz = npz, .half = true}) ==
        "--half: has no effect without --agent");
  CHECK(contains(export_fault({.run_folder = tiny.run, .npz = onnx}),
                 "unknown suffix '.onnx'; allowed: .npz"));
  CHECK(contains(export_fault({.run_folder = tiny.run, .npz = npz, .onnx = onnx, .unrolled = true}),
                 "attention.glimpse.kind: random does not look by itself"));
  CHECK_FALSE(fs::exists(npz));
  CHECK_FALSE(fs::exists(onnx));
}

}  // namespace saccade
