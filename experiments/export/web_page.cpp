#include "experiments/export/web_page.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "agent/learning/checkpoint.h"
#include "base/error.h"
#include "base/output.h"
#include "base/read_text.h"
#include "experiments/comparison/html.h"
#include "experiments/config/settings_json.h"
#include "experiments/export/agent_file.h"
#include "experiments/export/onnx_model.h"
#include "experiments/files/shipped.h"
#include "experiments/runs/shared_agent.h"
#include "experiments/runs/trained.h"
#include "experiments/task/task.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "index.html";
constexpr int kDigits = 250;  // of a dataset: a fifth of a megabyte of MNIST

using Files = std::map<std::string, std::string>;  // path in the folder -> bytes

Config shown_config(const Checkpoint& checkpoint, const std::string& origin) {
  Config config = config_of(checkpoint, origin);
  const TaskKind& kind = find_task_kind(config.scene.kind);
  if (kind.moves() || kind.is_text || !kind.has_digits)
    throw InputError(
        fmt::format("--web: {}: scene.kind: {} has no still pictures of digits, which the page "
                    "shows",
                    origin, config.scene.kind));
  return config;
}

// Throws InputError if the agent's network does not fit scenes of these digits.
void check_fits(const Config& config, const std::shared_ptr<const Digits>& digits,
                const Checkpoint& checkpoint) {
  const Task task(config, digits);
  Tensor<1> weights = zeros<1>(task.model.layout().size());
  checkpoint.restore_averaged(weights, task.model.layout());
}

// Loads the agent's own digits or, if they are not here, synthetic ones, which `config` then says.
std::shared_ptr<const Digits> digits_for(Config& config, const Checkpoint& checkpoint,
                                         const fs::path& agent) {
  std::string why = "--web: " + agent.string() + ": ";
  std::shared_ptr<const Digits> digits;
  try {
    digits = std::make_shared<Digits>(load_digits(config.data));
  } catch (const InputError& error) {
    why += fmt::format("{}; synthetic digits do not fit it: ", error.what());
    config.data = {.source = "synthetic"};
    digits = std::make_shared<Digits>(load_digits(config.data));
  }
  try {
    check_fits(config, digits, checkpoint);
  } catch (const InputError& error) {
    throw InputError(why + error.what());
  }
  return digits;
}

// Throws InputError for an agent that a page, which knows no more of a scene than its canvas, would
// play otherwise than the program.
void require_playable(const Task& task, const fs::path& agent) {
  try {
    require_canvas_only(task, "a page", "");
  } catch (const InputError& error) {
    throw InputError(fmt::format("--web: {}: {}", agent.string(), error.what()));
  }
}

std::string file_of(const std::string& name) { return "agents/" + name + ".agent"; }

// The name of an agent that comes with the program, or of its experiment, with a number if another
// one has it.
std::string new_name(const Files& files, const fs::path& agent, const Config& config) {
  const std::string base =
      shipped_agent(agent.string()).empty() ? config.name : agent.filename().string();
  std::string name = base;
  for (int n = 2; files.contains(file_of(name)); ++n) name = fmt::format("{}-{}", base, n);
  return name;
}

// What a run's folder says of it, if it is one: the command and the test error.
nlohmann::json figures_of(const fs::path& agent) {
  nlohmann::json figures = nlohmann::json::object();
  const fs::path folder = find_run_folder(agent);
  if (!fs::is_directory(folder)) return figures;
  if (const fs::path command = folder / "command.txt"; fs::exists(command))
    figures["command"] = read_text(command);
  if (const fs::path summary = folder / "summary.json"; fs::exists(summary)) {
    const nlohmann::json all =
        nlohmann::json::parse(read_text(summary), nullptr, /*allow_exceptions=*/false);
    if (all.is_object() && all.contains("test/error")) figures["error"] = all["test/error"];
  }
  return figures;
}

// The digits of which the page makes scenes.
std::string page_digits(const Dataset& set, int count, const fs::path& agent) {
  try {
    return some_digits(set, count);
  } catch (const InputError& error) {
    throw InputError(fmt::format("--web: {}: {}", agent.string(), error.what()));
  }
}

// Adds the file of an agent and returns its name.
std::string add_agent(Files& files, const fs::path& agent, const fs::path& scratch) {
  require_no_links(agent);
  const Checkpoint checkpoint(find_checkpoint(agent));
  Config config = shown_config(checkpoint, agent.string());
  const std::string name = new_name(files, agent, config), source = config.data.source;
  const std::shared_ptr<const Digits> digits = digits_for(config, checkpoint, agent);
  require_playable(Task(config, digits), agent);
  const Dataset& set = digits->test;
  const int count = std::min(kDigits, set.size());
  nlohmann::json about = {{"name", name},
                          {"digits", config.data.source},
                          {"settings", nlohmann::json::parse(to_json(world_settings(config)))},
                          {"class_names", digits->class_names},
                          {"shape", {count, set.rows(), set.cols(), set.channels()}}};
  about.update(figures_of(agent));
  if (config.data.source != source) about.erase("error");  // was not measured on these digits
  const fs::path weights = scratch / (name + ".safetensors");
  const Precision precision = checkpoint.precision();
  checkpoint.write_averaged(weights, precision);
  files[file_of(name)] =
      agent_file(about, read_text(weights), precision, page_digits(set, count, agent));
  fs::remove(weights);
  return name;
}

void replace_once(std::string& text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos)
    throw std::logic_error(fmt::format("{} of the page has no {}", kIndex, what));
  text.replace(at, what.size(), by);
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                Z_BEST_COMPRESSION) != Z_OK)
    throw std::runtime_error("a file of the page cannot be compressed");
  packed.resize(size);
  return packed;
}

// The whole page as one file: modules as data: addresses of the import map, the other files
// deflated, in base 64.
std::string single_page(Files files) {
  std::string html = files.extract(kIndex).mapped();
  replace_once(html, R"(<link rel="stylesheet" href="style.css">)",
               "<style>" + files.extract("style.css").mapped() + "</style>");
  nlohmann::json embedded = nlohmann::json::object();
  for (const auto& [path, bytes] : files)
    if (path.ends_with(".js"))
      replace_once(html, "\"./" + path + "\"",
                   "\"data:text/javascript;base64," + base64(bytes) + "\"");
    else
      embedded[path] = base64(deflated(bytes));
  replace_once(html, "<!-- files -->",
               "<script type=\"application/json\" id=\"files\">" + embedded.dump() + "</script>");
  return html;
}

Files page_files() {
  const fs::path folder = shipped_page();
  if (folder.empty())
    throw InputError(
        "--web: the module of the page is missing; `make web` builds it in the source tree");
  Files files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    files[entry.path().filename().string()] = read_text(entry.path());
  return files;
}

void write_files(const Files& files, const fs::path& folder) {
  for (const auto& [path, bytes] : files) {
    fs::create_directories((folder / path).parent_path());
    write_text(folder / path, bytes);
  }
}

}  // namespace

void write_web_page(const WebPageRequest& request) {
  if (request.single && request.target.extension() != ".html")
    throw InputError(fmt::format("--web {}: unknown suffix '{}'; allowed with --single: .html",
                                 request.target.string(), request.target.extension().string()));
  if (fs::exists(fs::symlink_status(request.target)))
    throw InputError(fmt::format("--web {}: exists already; allowed: a new {}",
                                 request.target.string(), request.single ? "file" : "folder"));
  Files files = page_files();
  // For a single file only the place where weights are written before they are embedded.
  fs::path place = request.target;
  if (request.single) place += ".parts";
  const OutputFolder folder(place);
  nlohmann::json names = nlohmann::json::array();
  for (const fs::path& agent : request.agents)
    names.push_back(add_agent(files, agent, folder.path()));
  files["agents.json"] = names.dump();
  if (!request.single) {
    write_files(files, folder.path());
    folder.commit();
    return;
  }
  OutputFile file(request.target, /*force=*/false);
  write_text(file.path(), single_page(std::move(files)));
  file.commit();
}

}  // namespace saccade
