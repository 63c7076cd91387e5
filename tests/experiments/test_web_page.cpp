// The web page and its module. Both need a build of the preset web; the numbers also need node, the
// page chromium.
#include <zlib.h>

#include <cstdlib>
#include <cstring>

#include "agent/learning/checkpoint.h"
#include "experiments/config/settings_json.h"
#include "experiments/evaluation/play.h"
#include "experiments/export/agent_file.h"
#include "experiments/export/web_page.h"
#include "experiments/files/shipped.h"
#include "experiments/runs/trained.h"
#include "tests/experiments/browser.h"
#include "tests/experiments/config_messages.h"
#include "tests/experiments/node.h"

namespace saccade {
namespace {

// Scenes of each agent whose numbers are compared. SACCADE_PAGE_SCENES sets the number.
int recorded_scenes() {
  const char* given = std::getenv("SACCADE_PAGE_SCENES");
  return given == nullptr ? 100 : std::stoi(given);
}

constexpr int kOwnScenes = 10;

// Whether a test of the page is skipped, which it then says.
bool skipped_without_module(const std::string& test) {
  if (!shipped_page().empty()) return false;
  MESSAGE("skipped: '" << test << "' needs the module (scripts/install-deps --web, make web)");
  return true;
}

std::string page_fault(const WebPageRequest& request) {
  return message_of<InputError>([&] { write_web_page(request); });
}

std::vector<fs::path> all_agents() {
  const Names names = shipped_agents();
  return {names.begin(), names.end()};
}

// ---- Settings as JSON ----

TEST_CASE("the settings of every preset come back from JSON") {
  for (const std::string& name : shipped_experiments()) {
    CAPTURE(name);
    const std::string yaml = bytes_of(shipped_experiment(name));
    if (contains(yaml, "\nvary:") || contains(yaml, "\nseeds:")) continue;  // a study
    const Config config = parse_config(yaml, name);
    Config written = config, read;
    const std::string json = to_json(world_settings(written));
    read_json(world_settings(read), json);
    for (const Difference& difference : differences(config, read)) {
      CAPTURE(difference.key);
      const Settings all = world_settings(read);
      CHECK(std::ranges::find(all, difference.key, &Setting::key) == all.end());
    }
    CHECK(to_json(world_settings(read)) == json);
  }
}

TEST_CASE("settings of JSON are checked like those of YAML") {
  const auto fault = [](const std::string& json) {
    Config config;
    return message_of<InputError>([&] { read_json(world_settings(config), json); });
  };
  CHECK(fault(R"({"scene.num_distractors": 4})") == "nothing thrown");
  CHECK(fault("[1]") == "settings: not a JSON object");
  CHECK(fault(R"({"scene.distractors": 4})") == "unknown setting 'scene.distractors'");
  check_contains(fault(R"({"retina.scales": 99})"), {"retina.scales: 99; allowed: "});
  check_contains(fault(R"({"retina.scales": 2.5})"), {"retina.scales: 2.5; allowed: "});
  check_contains(fault(R"({"model.core": "rm"})"), {"model.core: \"rm\"; allowed: ", "lstm"});
  check_contains(fault(R"({"scene.canvas": [60]})"), {"scene.canvas: [60]; allowed: "});
  check_contains(fault(R"({"attention.glimpse.std": {"from": 0.3, "to": 0.1, "over": 0}})"),
                 {"attention.glimpse.std: {", "allowed: "});
  CHECK_FALSE(contains(fault(R"({"data.path": "/"})"), "allowed"));  // no folders in a page
}

// ---- The page ----

TEST_CASE("export --web refuses what it cannot write before writing anything") {
  TemporaryFolder folder;
  const fs::path page = folder.path / "page";
  CHECK(
      contains(page_fault({{"quickstart"}, folder.path}), "exists already; allowed: a new folder"));
  CHECK(contains(page_fault({{"quickstart"}, page, /*single=*/true}),
                 "unknown suffix ''; allowed with --single: .html"));
  CHECK(contains(page_fault({{"quickstrat"}, page}), shipped_page().empty()
                                                         ? "the module of the page is missing"
                                                         : "did you mean 'quickstart'?"));
  check_refused(run_saccade(folder.path, {"export", "quickstart", "--single"}),
                "--single: has no effect without --web");
  check_refused(run_saccade(folder.path, {"export", "quickstart", "soft60", "--npz", "w.npz"}),
                "soft60: only --web takes several agents");
  check_refused(run_saccade(folder.path, {"export", "quickstart", "--web", "p", "--npz", "w.npz"}),
                "--web: cannot be combined with");
  CHECK(fs::is_empty(folder.path));
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

TEST_CASE("an agent's file has the bytes of its weights in another order") {
  const std::string checkpoint("\x02\0\0\0\0\0\0\0{}1234abcd", 18);
  const std::string file = agent_file({{"name", "a"}}, checkpoint, Precision::single, "digits");
  std::uint32_t length = 0;
  std::memcpy(&length, &file[8], sizeof length);
  CHECK(file.starts_with("SACCADE1"));
  CHECK(nlohmann::json::parse(file.substr(12, length)) ==
        nlohmann::json{
            {"about", {{"name", "a"}}}, {"head", 10}, {"numbers", 2}, {"width", 4}, {"digits", 6}});
  CHECK(file.substr(12 + length) == checkpoint.substr(0, 10) + "4d3c2b1adigits");
  CHECK(agent_file({}, checkpoint, Precision::half, "").ends_with("{}24bd13ac"));
  CHECK_THROWS_AS(agent_file({}, checkpoint + "x", Precision::single, ""), std::logic_error);
  CHECK_THROWS_AS(agent_file({}, "short", Precision::single, ""), std::logic_error);
}

TEST_CASE("the module of a page has the numbers of the program, agent by agent") {
  const char* name = "the module of a page has the numbers of the program";
  if (skipped_without_module(name) || skipped_without_node(name)) return;
  TemporaryFolder folder;
  const fs::path page = folder.path / "page", recorded = folder.path / "recorded";
  write_web_page({all_agents(), page});
  fs::create_directories(recorded);
  Workers workers(1);
  for (const std::string& agent : shipped_agents()) {
    const Trained trained(agent, {.data = "synthetic"});
    std::vector<NpzArray> arrays =
        play(trained.task.model, flat(trained.weights), trained.task.environments(Split::test),
             {.scenes = recorded_scenes(), .facts = {.canvases = true}}, workers)
            .take();
    arrays.push_back(exported_scenes(trained.task.config, page, agent));
    record_arrays(recorded, agent, arrays);
  }
  run_node(folder.path, "web_numbers.mjs", {page.string(), recorded.string()});
}

// The bytes of all files below a folder, each deflated as servers send them.
std::size_t deflated_size(const fs::path& folder) {
  std::size_t sum = 0;
  for (const auto& [path, bytes] : contents(folder)) {
    uLongf size = compressBound(bytes.size());
    std::string packed(size, '\0');
    REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == Z_OK);
    sum += size;
  }
  return sum;
}

TEST_CASE("a page with one agent has at most 2.5 MB, 1.5 compressed") {
  const char* name = "a page with one agent has at most 2.5 MB";
  if (skipped_without_module(name)) return;
  TemporaryFolder folder;
  write_web_page({{fs::path("cluttered60")}, folder.path / "page"});
  std::size_t bytes = 0;
  for (const auto& [path, text] : contents(folder.path / "page")) bytes += text.size();
  MESSAGE(bytes << " bytes, compressed " << deflated_size(folder.path / "page"));
  CHECK(bytes < 2'500'000);
  CHECK(deflated_size(folder.path / "page") < 1'500'000);
}

TEST_CASE("the package of the module does what its documentation shows") {
  const char* name = "the package of the module does what its documentation shows";
  if (skipped_without_module(name) || skipped_without_node(name)) return;
  TemporaryFolder folder;
  write_web_page({{fs::path("quickstart")}, folder.path / "page"});
  run_node(folder.path, "web_package.mjs",
           {(shipped_page().parent_path() / "package").string(),
            (folder.path / "page/agents/quickstart.agent").string()});
}

// Plays with the page of these agents.
void play_page(const std::vector<fs::path>& agents, bool single) {
  CAPTURE(agents.front());
  TemporaryFolder folder;
  const fs::path page = folder.path / (single ? "page.html" : "page");
  write_web_page({agents, page, single});
  if (single) CHECK(fs::file_size(page) < 3'000'000);
  run_node(folder.path, "web_browser.mjs",
           {find_browser().value().string(), page.string(), (folder.path / "profile").string()});
}

TEST_CASE("a page is played with in a browser, from a folder and from one file") {
  const char* name = "a page is played with in a browser";
  if (skipped_without_module(name) || skipped_without_node(name) || skipped_without_browser(name))
    return;
  play_page({fs::path("cluttered60"), fs::path("soft60")}, /*single=*/false);
  play_page({fs::path("transcribe")}, /*single=*/true);
  play_page({fs::path("quickstart"), fs::path("quickstart_soft")}, /*single=*/true);
}

}  // namespace
}  // namespace saccade
