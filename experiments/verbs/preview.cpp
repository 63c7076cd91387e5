#include "experiments/verbs/preview.h"

#include <fmt/format.h>

#include "experiments/files/output.h"
#include "experiments/pictures/scene_sheet.h"
#include "experiments/runs/study.h"
#include "experiments/task/task.h"
#include "nn/error.h"

namespace saccade {

std::string preview(const PreviewOptions& options) {
  if (options.out.empty()) throw InputError("--out: needed, the .png to write");
  if (options.out.extension() != ".png")
    throw InputError(fmt::format("{}: unknown suffix '{}'; allowed: .png", options.out.string(),
                                 options.out.extension().string()));
  if (options.scenes < 1 || options.scenes > kMaxSheetScenes)
    throw InputError(fmt::format("--scenes {}: allowed: 1 to {}", options.scenes, kMaxSheetScenes));
  if (read_study(options.config, options.overrides))
    throw InputError(
        fmt::format("{}: a study, whose runs may differ in their scenes; allowed: an experiment "
                    "without vary and seeds",
                    options.config.string()));
  OutputFile file(options.out, options.force);
  const Task task(read_config(options.config, options.overrides));
  write_text(file.path(), to_png(scene_sheet(task, options.scenes)));
  file.commit();
  return fmt::format("{}\n", options.out.string());
}

}  // namespace saccade
