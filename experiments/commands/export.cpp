#include <fmt/format.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "experiments/commands/command.h"
#include "experiments/export/export_agent.h"
#include "experiments/export/web_page.h"

namespace saccade {
namespace {

struct ExportOptions {
  std::vector<std::filesystem::path> agents;
  std::filesystem::path web;  // empty: none
  bool single = false;
  ExportRequest files;
};

std::vector<std::filesystem::path> call_export(ExportOptions options) {
  ExportRequest& files = options.files;
  const bool others = !files.npz.empty() || !files.onnx.empty() || !files.agent.empty();
  if (options.web.empty()) {
    if (options.single) throw InputError("--single: has no effect without --web");
    if (options.agents.size() > 1)
      throw InputError(
          fmt::format("{}: only --web takes several agents", options.agents[1].string()));
    files.run_folder = options.agents.front();
    return export_agent(files);
  }
  if (others || files.unrolled || files.half)
    throw InputError("--web: cannot be combined with --npz, --onnx or --agent");
  if (files.force) throw InputError("--force: has no effect with --web, which writes a new folder");
  write_web_page({.agents = options.agents, .target = options.web, .single = options.single});
  return {options.web};
}

}  // namespace

Command export_command() {
  const auto options = std::make_shared<ExportOptions>();
  ExportRequest& files = options->files;
  return {
      .name = "export",
      .group = "Look at agents",
      .about = "Write an agent for other programs: NumPy, ONNX, a folder, a page",
      .options =
          {{"run_dirs", &options->agents,
            "A run folder, or the name of a trained agent; with --web several", Option::kRequired},
           {"--npz", &files.npz, "A new .npz file: an array for each parameter"},
           {"--agent", &files.agent,
            "A new folder: configuration, figures and averaged weights, which every command "
            "takes for a run folder"},
           {"--half", &files.half, "The folder has its weights in half precision: half the size"},
           {"--onnx", &files.onnx,
            "A new .onnx file: one step, from a glimpse and the state to the answer and "
            "where to look next"},
           {"--unrolled", &files.unrolled,
            "The .onnx file has whole episodes, from the canvas to the answer"},
           {"--web", &options->web, "A new folder: a web page on which to play with the agents"},
           {"--single", &options->single, "The page is one new .html file, which needs no server"},
           force_option(&files.force)},
      .call =
          [options](const Call&) {
            say(to_lines(call_export(*options)));
            return Ending::done;
          },
      .examples = {"saccade export soft60 --onnx agent.onnx --unrolled",
                   "saccade export soft60 cluttered60 --web page.html --single"}};
}

}  // namespace saccade
