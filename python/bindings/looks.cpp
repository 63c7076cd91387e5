#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "env/retina.h"
#include "nn/parallel.h"
#include "python/bindings/arrays.h"
#include "python/bindings/calls.h"
#include "python/bindings/module.h"
#include "python/bindings/runs.h"
#include "python/bindings/worlds.h"

namespace saccade::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Rows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// N canvases, prepared once for smooth looks at any places.
class Looks {
 public:
  Looks(const Pixels& canvases, const RetinaConfig& config, int threads)
      : count_(canvases.shape(0)),
        rows_(canvases.shape(1)),
        cols_(canvases.shape(2)),
        channels_(canvases.shape(3)),
        retina_(config, static_cast<int>(canvases.shape(1)), static_cast<int>(canvases.shape(2)),
                static_cast<int>(canvases.shape(3))),
        prepared_(count_ * retina_.prepared_size()),
        workers_(threads) {
    const std::size_t area = rows_ * cols_;
    for_each([&](std::size_t n) {
      std::vector<std::uint8_t> planes(area * channels_);
      const std::uint8_t* from = canvases.data() + n * area * channels_;
      for (std::size_t i = 0; i < area; ++i)
        for (std::size_t c = 0; c < channels_; ++c) planes[c * area + i] = from[i * channels_ + c];
      retina_.prepare(planes, std::span(prepared_).subspan(n * retina_.prepared_size(),
                                                           retina_.prepared_size()));
    });
  }

  // Glimpses (N, D) and slopes (N, 2, D) at locations (N, 2).
  std::pair<Array<float>, Array<float>> look(const Rows& locations) {
    require_rows("locations", locations, 2);
    const std::size_t size = static_cast<std::size_t>(retina_.glimpse_size());
    auto glimpses = new_array<float, 2>({count_, size});
    auto slopes = new_array<float, 3>({count_, std::size_t{2}, size});
    float *glimpse = glimpses.data(), *slope = slopes.data();
    const float* places = locations.data();
    for_each([&](std::size_t n) {
      retina_.look_smoothly(
          std::span(prepared_).subspan(n * retina_.prepared_size(), retina_.prepared_size()),
          places[2 * n], places[2 * n + 1], glimpse + n * size, slope + n * 2 * size);
    });
    return {glimpses, slopes};
  }

  // The gradient of the canvases, (N, channels, rows, cols), pixels as numbers in [0, 1], of looks
  // at locations (N, 2) with the gradients dglimpses (N, D).
  Array<float> backward(const Rows& locations, const Rows& dglimpses) {
    const std::size_t size = static_cast<std::size_t>(retina_.glimpse_size());
    require_rows("locations", locations, 2);
    require_rows("dglimpses", dglimpses, size);
    auto dcanvases = new_array<float, 4>({count_, channels_, rows_, cols_});
    const std::size_t pixels = channels_ * rows_ * cols_;
    const float *places = locations.data(), *dglimpse = dglimpses.data();
    float* dcanvas = dcanvases.data();
    for_each([&](std::size_t n) {
      const std::span<float> mine(dcanvas + n * pixels, pixels);
      std::ranges::fill(mine, 0.0F);
      retina_.look_smoothly_backward(mine, places[2 * n], places[2 * n + 1],
                                     {dglimpse + n * size, size});
    });
    return dcanvases;
  }

 private:
  void require_rows(const char* name, const Rows& rows, std::size_t width) const {
    if (rows.shape(0) != count_ || rows.shape(1) != width)
      throw InputError(fmt::format("{}: shape ({}, {}); allowed: ({}, {})", name, rows.shape(0),
                                   rows.shape(1), count_, width));
  }

  static constexpr std::size_t kAtATime = 32;

  template <class Body>
  void for_each(const Body& body) {
    compute([&] {
      workers_.for_each(static_cast<int>((count_ + kAtATime - 1) / kAtATime), [&](int part) {
        const std::size_t first = part * kAtATime;
        for (std::size_t n = first; n < std::min(count_, first + kAtATime); ++n) body(n);
      });
    });
  }

  const std::size_t count_, rows_, cols_, channels_;
  const Retina retina_;
  std::vector<std::byte> prepared_;
  Workers workers_;
};

}  // namespace

void bind_looks(nb::module_& m) {
  nb::class_<Looks>(m, "Looks", "Canvases that are looked at between pixels; see saccade.torch.")
      .def(
          "__init__",
          [](Looks* self, const Pixels& canvases, int patch_size, int scales, int scale_factor,
             int threads) {
            require_threads();
            require_allowed_threads(threads);
            new (self)
                Looks(canvases,
                      {.patch_size = patch_size, .scales = scales, .scale_factor = scale_factor},
                      threads);
          },
          "canvases"_a.noconvert(), "patch_size"_a, "scales"_a, "scale_factor"_a, "threads"_a)
      .def("look", &Looks::look, "locations"_a.noconvert(),
           "Glimpses (N, D) at locations (N, 2), and their derivatives by x and y, (N, 2, D).")
      .def("backward", &Looks::backward, "locations"_a.noconvert(), "dglimpses"_a.noconvert(),
           "The gradient of the canvases, (N, channels, rows, cols), as numbers in [0, 1].");
}

}  // namespace saccade::python
