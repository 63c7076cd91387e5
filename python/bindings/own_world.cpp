#include "python/bindings/own_world.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <stdexcept>

#include "nn/layers.h"
#include "python/bindings/arrays.h"
#include "python/bindings/raised.h"
#include "python/bindings/worlds.h"

namespace saccade::python {

namespace nb = nanobind;

namespace {

using Rows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Returns work(), done with the interpreter's lock.
template <class Work>
auto in_interpreter(const Work& work) {
  const nb::gil_scoped_acquire acquired;
  try {
    return work();
  } catch (const nb::python_error& raised) {
    throw std::runtime_error(text_of(raised));
  }
}

template <class T>
Array<std::int64_t> integers_of(std::span<const T> from) {
  auto array = new_array<std::int64_t, 1>({from.size()});
  std::ranges::copy(from, array.data());
  return array;
}

void take_labels(const nb::object& given, std::span<int> labels) {
  if (given.is_none()) return;
  const auto array = nb::cast<Labels>(given);
  std::copy_n(array.data(), labels.size(), labels.begin());
}

void take_rows(const nb::object& given, Matrix rows) {
  const auto array = nb::cast<Rows>(given);
  copy_rows(rows, {array.data(), rows.rows, rows.cols, rows.cols});
}

// Arrays have the right shapes: OwnWorlds checks them.
class PythonWorld final : public OwnWorld {
 public:
  explicit PythonWorld(nb::handle world) : world_(world) {}

  void reset(std::span<const std::int64_t> scenes, std::span<int> labels) override {
    in_interpreter([&] { take_labels(world_.attr("reset")(integers_of(scenes)), labels); });
  }

  void look(Matrix locations, Matrix glimpses, std::span<int> labels) override {
    in_interpreter([&] {
      auto asked = new_array<float, 2>(
          {static_cast<std::size_t>(locations.rows), static_cast<std::size_t>(locations.cols)});
      copy_rows({asked.data(), locations.rows, locations.cols, locations.cols}, locations);
      const nb::object seen = world_.attr("look")(asked);
      take_rows(seen[0], glimpses);
      if (const nb::object places = seen[1]; !places.is_none()) take_rows(places, locations);
      take_labels(seen[2], labels);
    });
  }

  void act(std::span<const int> actions, std::span<float> rewards) override {
    in_interpreter([&] {
      const nb::object given = world_.attr("act")(integers_of(actions));
      const auto array = nb::cast<Numbers>(given);
      std::copy_n(array.data(), rewards.size(), rewards.begin());
    });
  }

 private:
  const nb::handle world_;  // kept alive by OwnWorlds
};

}  // namespace

OwnWorldMaker python_worlds(nb::handle worlds) {
  return [worlds](int episodes) -> std::unique_ptr<OwnWorld> {
    return in_interpreter([&] { return std::make_unique<PythonWorld>(worlds(episodes)); });
  };
}

}  // namespace saccade::python
