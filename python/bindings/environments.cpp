#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "env/vector_environment.h"
#include "nn/error.h"
#include "python/bindings/arrays.h"
#include "python/bindings/calls.h"
#include "python/bindings/module.h"
#include "python/bindings/tasks.h"

namespace saccade::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// What a step or reset writes, as NumPy arrays.
struct Seen {
  Seen(std::size_t n, const VectorEnvironment& environments)
      : glimpses(new_array<float, 2>({n, size_t_of(environments.glimpse_size())})),
        locations(new_array<float, 2>({n, 2})),
        steps(new_array<std::int64_t, 1>({n})),
        labels(new_array<std::int64_t, 2>({n, size_t_of(environments.answer_size())})),
        boxes(new_array<std::int64_t, 3>({n, size_t_of(environments.rules().num_boxes), 4})),
        on_target(new_array<bool, 1>({n})) {}

  static std::size_t size_t_of(int n) { return static_cast<std::size_t>(n); }

  VectorObservation memory() {
    const int n = static_cast<int>(glimpses.shape(0)), d = static_cast<int>(glimpses.shape(1));
    return {{glimpses.data(), n, d, d},
            {locations.data(), n, 2, 2},
            {steps.data(), steps.size()},
            {labels.data(), labels.size()},
            {boxes.data(), boxes.size()},
            {reinterpret_cast<std::uint8_t*>(on_target.data()), on_target.size()}};
  }
  nb::tuple arrays() const {
    return nb::make_tuple(glimpses, locations, steps, labels, boxes, on_target);
  }

  Array<float> glimpses, locations;
  Array<std::int64_t> steps, labels, boxes;
  Array<bool> on_target;
};

class Environments {
 public:
  Environments(const std::vector<std::string>& settings, const std::optional<Pixels>& images,
               const std::optional<Labels>& labels, const std::string& split, int count,
               EpisodeRules rules, int threads)
      : task_(make_task(parse_config("name: environment", "environment", settings),
                        images ? digits_of(*images, *labels) : nullptr)),
        environments_(task_->environments(split_named(split)), count, with_boxes(rules), threads) {}

  nb::tuple reset(const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>& seeds,
                  const nb::ndarray<const bool, nb::ndim<1>, nb::c_contig>& mask) {
    Seen seen(n(), environments_);
    const VectorObservation memory = seen.memory();
    run([&] {
      environments_.reset({seeds.data(), seeds.size()},
                          {reinterpret_cast<const std::uint8_t*>(mask.data()), mask.size()},
                          memory);
    });
    return seen.arrays();
  }

  nb::tuple step(const nb::ndarray<const float, nb::ndim<2>, nb::c_contig>& locations,
                 const nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig>& answers,
                 const nb::ndarray<const bool, nb::ndim<1>, nb::c_contig>& halts) {
    Seen seen(n(), environments_);
    Array<double> rewards = new_array<double, 1>({n()});
    Array<bool> terminated = new_array<bool, 1>({n()});
    const VectorObservation memory = seen.memory();
    const VectorActions actions{
        {locations.data(), static_cast<int>(locations.shape(0)), 2, 2},
        {answers.data(), answers.size()},
        {reinterpret_cast<const std::uint8_t*>(halts.data()), halts.size()}};
    run([&] {
      environments_.step(actions, memory, {rewards.data(), n()},
                         {reinterpret_cast<std::uint8_t*>(terminated.data()), n()});
    });
    return nb::make_tuple(seen.arrays(), rewards, terminated);
  }

  /// Of same-step autoreset: how the given environments looked at their end.
  nb::tuple final_rows(const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>& which) {
    const VectorObservation& all = environments_.final_observation();
    Seen rows(which.size(), environments_);
    for (std::size_t r = 0; r < which.size(); ++r) {
      const auto i = static_cast<std::size_t>(which.data()[r]);
      const auto copy = [&](auto* to, const auto* from, std::size_t width) {
        std::copy_n(from + i * width, width, to + r * width);
      };
      copy(rows.glimpses.data(), all.glimpses.data, rows.glimpses.shape(1));
      copy(rows.locations.data(), all.locations.data, 2);
      copy(rows.steps.data(), all.steps.data(), 1);
      copy(rows.labels.data(), all.labels.data(), rows.labels.shape(1));
      copy(rows.boxes.data(), all.boxes.data(), rows.boxes.shape(1) * 4);
      copy(rows.on_target.data(), all.on_target.data(), 1);
    }
    return rows.arrays();
  }

  const VectorEnvironment& environments() const { return environments_; }
  const Task& task() const { return *task_; }

 private:
  EpisodeRules with_boxes(EpisodeRules rules) const {
    rules.num_boxes = task_->kind.has_digits ? task_->config.scene.num_digits : 1;
    return rules;
  }
  std::size_t n() const { return static_cast<std::size_t>(environments_.size()); }
  template <class Body>
  void run(const Body& body) {
    if (environments_.threaded()) require_threads();
    compute(body);
  }

  const std::shared_ptr<const Task> task_;
  VectorEnvironment environments_;
};

}  // namespace

void bind_environments(nb::module_& m) {
  nb::enum_<Autoreset>(m, "Autoreset")
      .value("next_step", Autoreset::next_step)
      .value("same_step", Autoreset::same_step)
      .value("disabled", Autoreset::disabled);
  nb::class_<Environments>(m, "Environments",
                           "N episodes that are stepped side by side; see saccade.envs.")
      .def(
          "__init__",
          [](Environments* self, const std::vector<std::string>& settings,
             const std::optional<Pixels>& images, const std::optional<Labels>& labels,
             const std::string& split, int num_envs, int num_glimpses, bool random_first, bool halt,
             double look_price, Autoreset autoreset, int threads) {
            const EpisodeRules rules{.num_glimpses = num_glimpses,
                                     .first = random_first ? FirstLook::random : FirstLook::center,
                                     .halt = halt,
                                     .look_price = look_price,
                                     .autoreset = autoreset};
            new (self) Environments(settings, images, labels, split, num_envs, rules, threads);
          },
          "settings"_a, "images"_a.none(), "labels"_a.none(), "split"_a, "num_envs"_a,
          "num_glimpses"_a, "random_first"_a, "halt"_a, "look_price"_a, "autoreset"_a, "threads"_a)
      .def("reset", &Environments::reset, "seeds"_a.noconvert(), "mask"_a.noconvert())
      .def("step", &Environments::step, "locations"_a.noconvert(), "answers"_a.noconvert(),
           "halts"_a.noconvert())
      .def("final_rows", &Environments::final_rows, "which"_a.noconvert())
      .def_prop_ro("glimpse_shape",
                   [](const Environments& self) {
                     const Config& config = self.task().config;
                     return nb::make_tuple(config.retina.scales,
                                           self.task().model.canvas().channels,
                                           config.retina.patch_size, config.retina.patch_size);
                   })
      .def_prop_ro("answer_size",
                   [](const Environments& e) { return e.environments().answer_size(); })
      .def_prop_ro("num_classes",
                   [](const Environments& e) { return e.environments().num_classes(); })
      .def_prop_ro("num_boxes",
                   [](const Environments& e) { return e.environments().rules().num_boxes; })
      .def_prop_ro("acts", [](const Environments& e) { return e.task().kind.moves(); })
      .def_prop_ro(
          "spells",
          [](const Environments& e) { return e.task().kind.answer == AnswerKind::sequence; })
      .def_prop_ro("class_names", [](const Environments& e) {
        std::vector<std::string> names;
        for (int c = 0; c < e.environments().num_classes(); ++c)
          names.push_back(e.task().class_name(c));
        return names;
      });
}

}  // namespace saccade::python
