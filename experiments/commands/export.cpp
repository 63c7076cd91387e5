#include <memory>

#include "experiments/commands/command.h"
#include "experiments/export/export_agent.h"

namespace saccade {

Command export_command() {
  const auto request = std::make_shared<ExportRequest>();
  return {
      .name = "export",
      .group = "Look at agents",
      .about = "Write an agent for other programs: NumPy, ONNX, a folder",
      .options = {run_folder_option(&request->run_folder),
                  {"--npz", &request->npz, "A new .npz file: an array for each parameter"},
                  {"--agent", &request->agent,
                   "A new folder: configuration, figures and averaged weights, which every command "
                   "takes for a run folder"},
                  {"--onnx", &request->onnx,
                   "A new .onnx file: one step, from a glimpse and the state to the answer and "
                   "where to look next"},
                  {"--unrolled", &request->unrolled,
                   "The .onnx file has whole episodes, from the canvas to the answer"},
                  force_option(&request->force)},
      .call =
          [request](const Call&) {
            say(to_lines(export_agent(*request)));
            return Ending::done;
          },
      .examples = {"saccade export soft60 --onnx agent.onnx --unrolled",
                   "saccade export runs/quickstart/base/seed-1 --npz weights.npz"}};
}

}  // namespace saccade
