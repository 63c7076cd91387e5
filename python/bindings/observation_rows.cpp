#include "python/bindings/observation_rows.h"

namespace saccade::python {

namespace nb = nanobind;

ObservationSizes::ObservationSizes(const VectorEnvironment& environments, const World& world)
    : count(environments.size()),
      glimpse(environments.glimpse_size()),
      location(environments.location_size()),
      answer(environments.answer_size()),
      classes(environments.num_classes()),
      scales(world.config.retina.scales),
      channels(world.spec.canvas.channels),
      patch(world.config.retina.patch_size) {}

ObservationRows::ObservationRows(std::size_t n, const ObservationSizes& sizes,
                                 const EpisodeRules& rules, bool flat)
    : rows_(static_cast<int>(n)),
      glimpse_size_(sizes.glimpse),
      location_size_(sizes.location),
      num_glimpses_(rules.num_glimpses),
      flat_(flat),
      steps_(new_array<std::int64_t, 1>({n})),
      on_target_(new_array<bool, 1>({n})) {
  if (flat_) {
    glimpses_ = new_array<float, 2>({n, size_t_of(flat_size())});
  } else {
    const std::size_t side = size_t_of(sizes.patch);
    glimpses_ =
        new_array<float, 5>({n, size_t_of(sizes.scales), size_t_of(sizes.channels), side, side});
    locations_ = new_array<float, 2>({n, size_t_of(location_size_)});
  }
  const std::size_t symbols = size_t_of(sizes.answer);
  const std::size_t digits = size_t_of(rules.num_boxes);
  labels_ =
      symbols > 1 ? new_array<std::int64_t, 2>({n, symbols}) : new_array<std::int64_t, 1>({n});
  boxes_ =
      digits > 1 ? new_array<std::int64_t, 3>({n, digits, 4}) : new_array<std::int64_t, 2>({n, 4});
}

VectorObservation ObservationRows::memory() {
  const int stride = flat_ ? flat_size() : glimpse_size_;
  float* place = flat_ ? glimpses_.data() + glimpse_size_ : locations_.data();
  return {{glimpses_.data(), rows_, glimpse_size_, stride},
          {place, rows_, location_size_, flat_ ? stride : location_size_},
          {steps_.data(), steps_.size()},
          {labels_.data(), labels_.size()},
          {boxes_.data(), boxes_.size()},
          {bytes_of(on_target_), on_target_.size()}};
}

nb::tuple ObservationRows::arrays() {
  const nb::tuple facts = nb::make_tuple(labels_, boxes_, on_target_);
  if (!flat_) return nb::make_tuple(nb::make_tuple(glimpses_, locations_, steps_), facts);
  float* last = glimpses_.data() + flat_size() - 1;
  for (int i = 0; i < rows_; ++i, last += flat_size())
    *last = static_cast<float>(steps_.data()[i]) / static_cast<float>(num_glimpses_);
  return nb::make_tuple(glimpses_, facts);
}

}  // namespace saccade::python
