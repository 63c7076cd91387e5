// The web page. It needs a build of the preset web, and to be played with node and chromium.
#include <zlib.h>

#include <cstring>
#include <numeric>

#include "agent/learning/checkpoint.h"
#include "experiments/config/settings_json.h"
#include "experiments/export/agent_file.h"
#include "experiments/export/web_page.h"
#include "experiments/files/shipped.h"
#include "tests/env/photo_files.h"
#include "tests/experiments/browser.h"
#include "tests/experiments/config_messages.h"
#include "tests/experiments/node.h"
#include "tests/experiments/web_module.h"

namespace saccade {
namespace {

std::string page_fault(const WebPageRequest& request) {
  return message_of<InputError>([&] { write_web_page(request); });
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

TEST_CASE("a page keeps the mask of its agent") {
  Config config, read;
  config.agent.hidden.mask = "0111";
  read_json(world_settings(read), to_json(world_settings(config)));
  CHECK(read.agent.hidden.mask == "0111");
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

// What an agent's file says of it.
nlohmann::json about_in(const fs::path& path) {
  const std::string file = bytes_of(path);
  REQUIRE(file.starts_with("SACCADE1"));
  std::uint32_t length = 0;
  std::memcpy(&length, &file[8], sizeof length);
  return nlohmann::json::parse(file.substr(12, length)).at("about");
}

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
  // What a scene's canvas does not show.
  const TinyExperiment tiny;
  const auto fault = [&](const Overrides& overrides) {
    const fs::path run = tiny.train("run", overrides);
    const std::string message = page_fault({{run}, page});
    fs::remove_all(run);
    if (shipped_page().empty()) return message;
    CHECK(message.starts_with("--web: " + run.string() + ": "));
    return message.substr(message.find(": attention.") + 2);
  };
  const std::string missing = "the module of the page is missing";
  check_contains(fault({"attention.glimpse.kind=oracle"}),
                 {shipped_page().empty()
                      ? missing
                      : "attention.glimpse.kind: oracle does not look by itself, as a page has to; "
                        "allowed: the other kinds"});
  check_contains(
      fault({"scene.kind=bag", "scene.canvas=[13, 40]", "scene.num_digits=3", "scene.min_digits=1",
             "scene.num_distractors=0"}),
      {shipped_page().empty()
           ? missing
           : "attention.glimpse.num_glimpses: 3, where an episode of scene.kind: bag counts as "
             "many looks as it has digits, 1 and more, and a page takes all; allowed: up to 1"});

  check_refused(run_saccade(folder.path, {"export", "quickstart", "--single"}),
                "--single: has no effect without --web");
  check_refused(run_saccade(folder.path, {"export", "quickstart", "soft60", "--npz", "w.npz"}),
                "soft60: only --web takes several agents");
  check_refused(run_saccade(folder.path, {"export", "quickstart", "--web", "p", "--npz", "w.npz"}),
                "--web: cannot be combined with");
  CHECK(fs::is_empty(folder.path));
}

TEST_CASE("export --web refuses an agent that no digits of this machine fit") {
  if (skipped_without_module("export --web refuses an agent that no digits of this machine fit"))
    return;
  const TinyExperiment tiny;
  const fs::path colour = tiny.path / "colour", page = tiny.path / "page";
  fs::create_directory(colour);
  write_svhn(colour, 60);
  const fs::path run = tiny.train(
      "run", {"data.source=svhn", "data.path=" + colour.string(), "scene.canvas=[40, 40]"});
  write_web_page({{run}, tiny.path / "fits"});
  fs::remove_all(colour);
  check_contains(page_fault({{run}, page}),
                 {"--web: " + run.string() + ": ", colour.string(),
                  "; synthetic digits do not fit it: ", "but this model has"});
  CHECK_FALSE(fs::exists(page));

  // Synthetic digits that do fit are not those of its test error.
  const fs::path grey = tiny.path / "grey";
  fs::create_directory(grey);
  const RawDatasets digits = draw_synthetic(60, 20, /*seed=*/1);
  write_idx(grey, digits.train, digits.test);
  const fs::path other =
      tiny.train("other", {"data.path=" + grey.string(), "scene.canvas=[40, 40]"});
  const auto about = [&](const std::string& target) {
    write_web_page({{other}, tiny.path / target});
    return about_in(tiny.path / target / "agents/tiny.agent");
  };
  const nlohmann::json own = about("own");
  CHECK(own.at("digits") == "idx");
  CHECK(own.at("error") == read_json(other / "summary.json").at("test/error"));
  fs::remove_all(grey);
  const nlohmann::json replaced = about("replaced");
  CHECK(replaced.at("digits") == "synthetic");
  CHECK_FALSE(replaced.contains("error"));
  CHECK(replaced.at("command") == own.at("command"));
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

TEST_CASE("an agent's file is JSON whatever the bytes of its command are") {
  const std::string checkpoint("\x02\0\0\0\0\0\0\0{}", 10);
  const std::string file =
      agent_file({{"command", "saccade run caf\xe9"}}, checkpoint, Precision::single, "");
  std::uint32_t length = 0;
  std::memcpy(&length, &file[8], sizeof length);
  CHECK(nlohmann::json::parse(file.substr(12, length)).at("about").at("command") ==
        "saccade run caf\xef\xbf\xbd");
}

TEST_CASE("digits of an agent's file have labels of a byte, and more classes are refused") {
  Dataset set;
  set.images = xt::xtensor<std::uint8_t, 4>::from_shape({4, 1, 2, 1});
  std::iota(set.images.begin(), set.images.end(), std::uint8_t{'a'});
  set.labels = {0, 1, 2, 255};
  set.classes = 256;
  CHECK(some_digits(set, 4) == "abcdefgh" + std::string("\0\1\2\xff", 4));
  CHECK(some_digits(set, 2) == "abef" + std::string("\0\2", 2));
  set.classes = 257;
  CHECK(message_of<InputError>([&] { some_digits(set, 4); }) ==
        "257 classes, where labels are bytes; allowed: up to 256");
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

TEST_CASE("a page shows looks as wide as they are, and agents that stop by themselves") {
  const char* name = "a page shows looks as wide as they are";
  if (skipped_without_module(name) || skipped_without_node(name) || skipped_without_browser(name))
    return;
  const TinyExperiment tiny;
  const Names few = {"attention.glimpse.num_glimpses=4", "attention.glimpse.stop=sampled"};
  const fs::path wide = tiny.train("wide", with(few, {"attention.glimpse.zoom={from: 1, to: 2.5}",
                                                      "attention.glimpse.moves=relative"}));
  play_page({wide}, /*single=*/false);
  const fs::path places =
      tiny.train("places", with(few, {"attention.glimpse.kind=hard_categorical"}));
  const fs::path spelling = tiny.train("spelling", with(few, kSequenceTask));
  play_page({places, spelling}, /*single=*/true);
  play_page({tiny.train("between", {"attention.glimpse.kind=soft_point", "scene.digit_scale=0.5"})},
            /*single=*/true);
}

}  // namespace
}  // namespace saccade
