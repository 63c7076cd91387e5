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

using Locations = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// N canvases, prepared once for smooth looks at any places.
class Looks {
 public:
  Looks(const Pixels& canvases, const RetinaConfig& config, int threads)
      : count_(canvases.shape(0)),
        retina_(config, static_cast<int>(canvases.shape(1)), static_cast<int>(canvases.shape(2)),
                static_cast<int>(canvases.shape(3))),
        prepared_(count_ * retina_.prepared_size()),
        workers_(threads) {
    const std::size_t area = canvases.shape(1) * canvases.shape(2), channels = canvases.shape(3);
    for_each([&](std::size_t n) {
      std::vector<std::uint8_t> planes(area * channels);
      const std::uint8_t* from = canvases.data() + n * area * channels;
      for (std::size_t i = 0; i < area; ++i)
        for (std::size_t c = 0; c < channels; ++c) planes[c * area + i] = from[i * channels + c];
      retina_.prepare(planes, std::span(prepared_).subspan(n * retina_.prepared_size(),
                                                           retina_.prepared_size()));
    });
  }

  // Glimpses (N, D) and slopes (N, 2, D) at locations (N, 2).
  std::pair<Array<float>, Array<float>> look(const Locations& locations) {
    if (locations.shape(0) != count_ || locations.shape(1) != 2)
      throw InputError(fmt::format("locations: shape ({}, {}); allowed: ({}, 2)",
                                   locations.shape(0), locations.shape(1), count_));
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

 private:
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

  const std::size_t count_;
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
           "Glimpses (N, D) at locations (N, 2), and their derivatives by x and y, (N, 2, D).");
}

}  // namespace saccade::python
