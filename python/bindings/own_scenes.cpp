#include "python/bindings/own_scenes.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <stdexcept>

#include "python/bindings/arrays.h"
#include "python/bindings/raised.h"
#include "python/bindings/worlds.h"

namespace saccade::python {

namespace nb = nanobind;

namespace {

using Boxes = nb::ndarray<const std::int64_t, nb::shape<-1, -1, 4>, nb::c_contig, nb::device::cpu>;

// From (N, rows, cols, channels) to (N, channels, rows, cols).
void copy_canvases(const Pixels& from, std::vector<std::uint8_t>& to) {
  const std::size_t count = from.shape(0), channels = from.shape(3);
  const std::size_t area = from.shape(1) * from.shape(2);
  to.resize(count * area * channels);
  if (channels == 1) {
    std::copy_n(from.data(), to.size(), to.begin());
    return;
  }
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t c = 0; c < channels; ++c) {
      const std::uint8_t* pixel = from.data() + n * area * channels + c;
      std::uint8_t* plane = to.data() + (n * channels + c) * area;
      for (std::size_t i = 0; i < area; ++i) plane[i] = pixel[i * channels];
    }
}

void copy_boxes(const Boxes& from, SceneBlock& block) {
  block.boxes_per_scene = static_cast<int>(from.shape(1));
  block.boxes.resize(from.shape(0) * from.shape(1));
  for (std::size_t i = 0; i < block.boxes.size(); ++i) {
    const std::int64_t* box = from.data() + 4 * i;
    block.boxes[i] = {static_cast<int>(box[0]), static_cast<int>(box[1]), static_cast<int>(box[2]),
                      static_cast<int>(box[3])};
  }
}

}  // namespace

PythonScenes::PythonScenes(nb::handle blocks)
    : blocks_(blocks), size_(nb::cast<std::int64_t>(blocks.attr("size"))) {}

void PythonScenes::read(std::span<const std::int64_t> numbers, SceneBlock& block) {
  const nb::gil_scoped_acquire acquired;
  try {
    auto asked = new_array<std::int64_t, 1>({numbers.size()});
    std::ranges::copy(numbers, asked.data());
    const nb::object given = blocks_(asked);
    copy_canvases(nb::cast<Pixels>(given[0]), block.canvases);
    const Labels labels = nb::cast<Labels>(given[1]);
    block.labels.assign(labels.data(), labels.data() + labels.size());
    copy_boxes(nb::cast<Boxes>(given[2]), block);
  } catch (const nb::python_error& raised) {
    throw std::runtime_error(text_of(raised));
  }
}

}  // namespace saccade::python
