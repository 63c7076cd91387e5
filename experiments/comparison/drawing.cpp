#include "experiments/comparison/drawing.h"

#include <fmt/format.h>

#include "experiments/pictures/colours.h"

namespace saccade {
namespace {

constexpr int kMeasured = 100;  // letters are measured at this height

struct RoleLook {
  const char* name;
  Colour on_paper;
};
// In the order of Role.
constexpr RoleLook kLooks[] = {{"paper", kPaper},
                               {"ink", kInk},
                               {"soft-ink", kSoftInk},
                               {"rule", kRule},
                               {"full-cell", kFullCell}};
static_assert(std::size(kLooks) == static_cast<std::size_t>(Role::variant));

}  // namespace

Colour colour_on_paper(const Paint& paint) {
  return paint.role == Role::variant ? variant_colour(paint.variant)
                                     : kLooks[static_cast<std::size_t>(paint.role)].on_paper;
}

std::string name_of(const Paint& paint) {
  return paint.role == Role::variant ? fmt::format("v{}", paint.variant)
                                     : kLooks[static_cast<std::size_t>(paint.role)].name;
}

void Drawing::add(Form form, const Paint& paint, int series) {
  Shape& shape = shapes.emplace_back();
  shape.form = std::move(form);
  shape.paint = paint;
  shape.series = series;
}

double width_of(const std::string& line, double height) {
  return text_width(line, {.height = kMeasured}) * height / kMeasured;
}

std::string fitted_to(const std::string& line, double width, double height) {
  return fitted(line, static_cast<int>(width * kMeasured / height), {.height = kMeasured});
}

}  // namespace saccade
