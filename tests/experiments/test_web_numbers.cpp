// The numbers of the module of web pages are those of the program. It needs a build of the preset
// web, and node.
#include <cstdlib>
#include <cstring>
#include <map>

#include "experiments/evaluation/play.h"
#include "experiments/export/web_page.h"
#include "experiments/runs/trained.h"
#include "tests/experiments/node.h"
#include "tests/experiments/web_module.h"

namespace saccade {
namespace {

// Scenes of each agent whose numbers are compared. SACCADE_PAGE_SCENES sets the number.
int recorded_scenes() {
  const char* given = std::getenv("SACCADE_PAGE_SCENES");
  return given == nullptr ? 100 : std::stoi(given);
}

constexpr int kOwnScenes = 10;

std::vector<fs::path> all_agents() {
  const Names names = shipped_agents();
  return {names.begin(), names.end()};
}

// Writes arrays as files of 32-bit numbers, and what they are.
void record_arrays(const fs::path& folder, const std::string& agent,
                   const std::vector<NpzArray>& arrays) {
  nlohmann::json about;
  for (const NpzArray& array : arrays)
    std::visit(
        [&](const auto& values) {
          using T = typename std::decay_t<decltype(values)>::value_type;
          about[array.name] = {{"shape", array.shape},
                               {"type", std::is_same_v<T, float> ? "float32" : "int32"}};
          put_bytes(folder / (agent + "." + array.name),
                    {reinterpret_cast<const char*>(values.data()), sizeof(T) * values.size()});
        },
        array.values);
  put_bytes(folder / (agent + ".json"), about.dump());
}

// An exported agent: what its file says of the parts, and the bytes after that.
struct ExportedAgent {
  ExportedAgent(const fs::path& page, const std::string& agent) {
    const std::string file = bytes_of(page / "agents" / (agent + ".agent"));
    REQUIRE(file.starts_with("SACCADE1"));
    std::uint32_t length = 0;
    std::memcpy(&length, &file[8], sizeof length);
    said = nlohmann::json::parse(file.substr(12, length));
    parts = file.substr(12 + length);
  }
  std::string digits() const {
    return parts.substr(parts.size() - said.at("digits").get<std::size_t>());
  }

  nlohmann::json said;
  std::string parts;
};

// The digits of an exported page, as the module makes scenes of them.
std::shared_ptr<Digits> exported_digits(const fs::path& page, const std::string& agent) {
  const ExportedAgent exported(page, agent);
  const nlohmann::json about = exported.said.at("about");
  const std::string bytes = exported.digits();
  const auto shape = about.at("shape").get<std::array<std::size_t, 4>>();
  auto digits = std::make_shared<Digits>();
  digits->class_names = about.at("class_names").get<Names>();
  Dataset& set = digits->test;
  set.classes = static_cast<int>(digits->class_names.size());
  set.images.resize(shape);
  set.labels.resize({shape[0]});
  std::copy_n(bytes.begin(), set.images.size(), set.images.begin());
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(set.images.size()), shape[0],
              set.labels.begin());
  digits->train = set;
  return digits;
}

NpzArray exported_scenes(const Config& config, const fs::path& page, const std::string& agent) {
  const World world(config, std::shared_ptr<const Digits>(exported_digits(page, agent)));
  EvaluationConfig evaluation = config.evaluation;
  evaluation.seed = 5;
  evaluation.scenes = 1;  // their digits are shuffled, as those of the module
  const auto environment = world.environments(Split::test, evaluation)(kOwnScenes, 1);
  const int pixels = environment->canvas().pixels();
  NpzArray scenes = float_array("scenes", {kOwnScenes, static_cast<std::size_t>(pixels)});
  environment->reset(0);
  environment->view(
      {std::get<std::vector<float>>(scenes.values).data(), kOwnScenes, pixels, pixels});
  return scenes;
}

// The answers as text, by scene.
std::string spoken_answers(const Task& task, const std::vector<NpzArray>& arrays) {
  const auto answers = std::ranges::find(arrays, "answers", &NpzArray::name);
  const auto& symbols = std::get<std::vector<int>>(answers->values);
  const std::size_t scenes = answers->shape[0], each = symbols.size() / scenes;
  nlohmann::json texts;
  for (std::size_t n = 0; n < scenes; ++n) {
    const auto begin = symbols.begin() + static_cast<std::ptrdiff_t>(n * each);
    const auto end = std::find(begin, begin + static_cast<std::ptrdiff_t>(each), -1);
    texts.push_back(task.spoken(std::vector<int>(begin, end)));
  }
  return texts.dump();
}

// Records what an agent does, and scenes of the digits of its page.
void record_agent(const Trained& trained, const fs::path& page, const std::string& name,
                  const fs::path& recorded) {
  Workers workers(1);
  std::vector<NpzArray> arrays =
      play(trained.task.model, flat(trained.weights), trained.task.environments(Split::test),
           {.scenes = recorded_scenes(), .facts = {.canvases = true}}, workers)
          .take();
  arrays.push_back(exported_scenes(trained.task.config, page, name));
  record_arrays(recorded, name, arrays);
  put_bytes(recorded / (name + ".texts"), spoken_answers(trained.task, arrays));
}

TEST_CASE("the module of a page has the numbers of the program, agent by agent") {
  const char* name = "the module of a page has the numbers of the program";
  if (skipped_without_module(name) || skipped_without_node(name)) return;
  TemporaryFolder folder;
  const fs::path page = folder.path / "page", recorded = folder.path / "recorded";
  write_web_page({all_agents(), page});
  fs::create_directories(recorded);
  for (const std::string& agent : shipped_agents())
    record_agent(Trained(agent, {.data = "synthetic"}), page, agent, recorded);
  run_node(folder.path, "web_numbers.mjs", {page.string(), recorded.string()});
}

TEST_CASE("the module of a page has the numbers of agents that move or zoom or stop") {
  const char* name = "the module of a page has the numbers of agents that move or zoom or stop";
  if (skipped_without_module(name) || skipped_without_node(name)) return;
  const TinyExperiment tiny;
  const fs::path named = tiny.path / "named";
  write_digits(named);
  write_class_names(named, {"one", "two", "three"});
  const Names moves = {"attention.glimpse.moves=relative"};
  const Names zooms = {"attention.glimpse.zoom={from: 1, to: 2.5}"};
  const Names spells = with(kSequenceTask, {"attention.glimpse.stop=expected"});
  const std::map<std::string, Names> agents = {
      {"zooms", with(moves, with(zooms, {"attention.glimpse.stop=sampled",
                                         "attention.glimpse.first=learned"}))},
      {"places", with(moves, {"attention.glimpse.kind=hard_gaussian"})},
      {"scan", {"attention.glimpse.kind=scan"}},
      {"point",
       with(zooms, {"attention.glimpse.kind=soft_point", "attention.glimpse.stop=confidence"})},
      {"steps",
       with(moves, {"attention.glimpse.kind=hard_categorical", "attention.glimpse.stop=expected"})},
      {"window", {"attention.glimpse.kind=soft_gaussian", "attention.glimpse.stop=sampled"}},
      {"spells", spells},
      // Trained long enough to say more than one of them.
      {"words", with(spells, {"data.path=" + named.string(), "training.episodes=3840"})}};
  const fs::path page = tiny.path / "page", recorded = tiny.path / "recorded";
  std::vector<fs::path> runs;
  for (const auto& [agent, overrides] : agents)
    runs.push_back(  // no random first look
        tiny.train(agent,
                   with({"attention.glimpse.first=center"}, with(overrides, {"name=" + agent}))));
  write_web_page({runs, page});
  fs::create_directories(recorded);
  for (const auto& [agent, overrides] : agents)
    record_agent(Trained(tiny.path / agent, {}), page, agent, recorded);
  CHECK(contains(bytes_of(recorded / "words.texts"), " "));
  run_node(tiny.path, "web_numbers.mjs", {page.string(), recorded.string()});
}

}  // namespace
}  // namespace saccade
