#include "experiments/analysis/preview.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/output.h"
#include "experiments/pictures/scene_sheet.h"
#include "experiments/runs/study.h"

namespace saccade {

PixelConfig pixels_of(const Dataset& digits) {
  PixelConfig pixels{.mean = {}, .deviation = {}};
  for (int c = 0; c < digits.channels(); ++c) {
    double sum = 0.0, squares = 0.0;
    std::size_t count = 0;
    for (std::size_t i = c; i < digits.images.size(); i += digits.channels(), ++count) {
      const double pixel = digits.images.data()[i] / 255.0;
      sum += pixel;
      squares += pixel * pixel;
    }
    const double average = sum / static_cast<double>(count);
    pixels.mean.push_back(average);
    pixels.deviation.push_back(std::sqrt(squares / static_cast<double>(count) - average * average));
  }
  return pixels;
}

std::unique_ptr<const World> preview(const PreviewRequest& request) {
  if (request.out.empty()) throw InputError("--out: needed, the .png to write");
  if (request.out.extension() != ".png")
    throw InputError(fmt::format("{}: unknown suffix '{}'; allowed: .png", request.out.string(),
                                 request.out.extension().string()));
  const Study study = read_study(request.config, request.overrides);
  if (!study.single)
    throw InputError(
        fmt::format("{}: a study, whose runs may differ in their scenes; allowed: an experiment "
                    "without vary and seeds",
                    request.config.string()));
  OutputFile file(request.out, request.force);
  auto world = std::make_unique<const World>(study.runs[0].config);
  write_text(file.path(), to_png(scene_sheet(*world, request.scenes)));
  file.commit();
  return world;
}

}  // namespace saccade
