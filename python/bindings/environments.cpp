#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "env/vector_environment.h"
#include "experiments/config/setting_names.h"
#include "experiments/config/settings.h"
#include "experiments/pictures/environment_picture.h"
#include "python/bindings/arrays.h"
#include "python/bindings/calls.h"
#include "python/bindings/module.h"
#include "python/bindings/observation_rows.h"
#include "python/bindings/runs.h"
#include "python/bindings/worlds.h"

namespace saccade::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Who looks is the caller: nothing is asked of an agent.
constexpr const char* kCaller = "attention: {glimpse: {kind: random}}";

template <class T>
using Row = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
Array<T> copied(const std::vector<T>& numbers) {
  Array<T> array = new_array<T, 1>({numbers.size()});
  std::ranges::copy(numbers, array.data());
  return array;
}

class Environments {
 public:
  Environments(const std::vector<std::string>& settings, const std::optional<Pixels>& images,
               const std::optional<Labels>& labels, const std::vector<std::string>& class_names,
               const std::string& split, int count, EpisodeRules rules, bool flat, int threads)
      : digits_(images ? compute([&] { return digits_of(*images, *labels, class_names); })
                       : nullptr),
        split_(split_named(split)),
        worlds_{{0, world_of(settings)}},
        flat_(flat),
        environments_(newest().environments(split_), count, completed(rules), threads),
        sizes_(environments_, newest()) {
    if (environments_.threaded()) require_threads();
  }

  // Gives the episodes that begin from now on other settings, of the same sizes.
  void change(const std::vector<std::string>& settings) {
    SettledWorld next = world_of(settings);
    run([&] {
      const int number = worlds_.rbegin()->first + 1;
      environments_.change_scenes(next.world->environments(split_), number);
      picture_.reset();
      worlds_.emplace(number, std::move(next));
      forget_worlds();
    });
  }
  // Before the first reset: goes on with the seeds of others, as many of them.
  void follow(const Environments& others) {
    others.alone([&] { environments_.follow(others.environments_); });
  }
  // The settings of the episodes that are shown or will be, the newest last.
  std::vector<std::vector<std::string>> settings() {
    return alone([&] { return settings_shown(); });
  }

  nb::tuple reset(const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>& seeds,
                  const nb::ndarray<const bool, nb::ndim<1>, nb::c_contig>& mask) {
    require_shape(seeds.shape(0) == n() && mask.shape(0) == n());
    ObservationRows seen = new_rows(n());
    const VectorObservation memory = seen.memory();
    run([&] {
      environments_.reset({seeds.data(), seeds.size()},
                          {reinterpret_cast<const std::uint8_t*>(mask.data()), mask.size()},
                          memory);
    });
    return seen.arrays();
  }

  nb::tuple step(const nb::ndarray<const float, nb::ndim<2>, nb::c_contig>& locations,
                 const nb::ndarray<const std::int64_t, nb::c_contig>& answers,
                 const std::optional<nb::ndarray<const bool, nb::ndim<1>, nb::c_contig>>& halts) {
    const int size = sizes_.location;
    require_shape(locations.shape(0) == n() && locations.shape(1) == size_t_of(size) &&
                  answers.size() == n() * size_t_of(sizes_.answer) &&
                  (!halts || halts->shape(0) == n()));
    ObservationRows seen = new_rows(n());
    Array<double> rewards = new_array<double, 1>({n()});
    Array<bool> terminated = new_array<bool, 1>({n()});
    const VectorObservation memory = seen.memory();
    VectorActions actions{.locations = {locations.data(), static_cast<int>(n()), size, size},
                          .answers = {answers.data(), answers.size()},
                          .halts = {}};
    if (halts) actions.halts = {reinterpret_cast<const std::uint8_t*>(halts->data()), n()};
    run([&] {
      environments_.step(actions, memory, {rewards.data(), n()}, {bytes_of(terminated), n()});
    });
    const nb::tuple arrays = seen.arrays();
    return nb::make_tuple(arrays[0], arrays[1], rewards, terminated);
  }

  // With same-step autoreset: the final observations of the given environments.
  nb::tuple final_rows(const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>& which) {
    ObservationRows rows = new_rows(which.size());
    const VectorObservation memory = rows.memory();
    alone([&] {
      const VectorObservation& all = environments_.final_observation();
      for (std::size_t r = 0; r < which.size(); ++r) {
        const std::int64_t i = which.data()[r];
        require_shape(i >= 0 && i < all.glimpses.rows);
        const auto copy = [i, r](auto to, auto from, std::size_t width) {
          std::copy_n(from.begin() + i * width, width, to.begin() + r * width);
        };
        const auto copy_row = [i, r](Matrix to, ConstMatrix from) {
          std::copy_n(from.row(static_cast<int>(i)), from.cols, to.row(static_cast<int>(r)));
        };
        copy_row(memory.glimpses, all.glimpses);
        copy_row(memory.locations, all.locations);
        copy(memory.steps, all.steps, 1);
        copy(memory.labels, all.labels, size_t_of(sizes_.answer));
        copy(memory.boxes, all.boxes, size_t_of(rules().num_boxes) * 4);
        copy(memory.on_target, all.on_target, 1);
      }
    });
    return rows.arrays();
  }

  // settings() and, at the same moment, the state of the episodes as picklable values.
  nb::tuple state() {
    const auto [settings, state] =
        alone([&] { return std::pair(settings_shown(), environments_.state()); });
    return nb::make_tuple(
        settings, nb::make_tuple(state.running, copied(state.counters), copied(state.rewards),
                                 copied(state.paths), copied(state.answers), copied(state.acts)));
  }
  void restore(bool running, const Row<std::int64_t>& counters, const Row<double>& rewards,
               const Row<float>& paths, const Row<std::int64_t>& answers,
               const Row<std::int64_t>& acts) {
    const VectorState state{.running = running,
                            .counters = {counters.data(), counters.data() + counters.size()},
                            .rewards = {rewards.data(), rewards.data() + rewards.size()},
                            .paths = {paths.data(), paths.data() + paths.size()},
                            .answers = {answers.data(), answers.data() + answers.size()},
                            .acts = {acts.data(), acts.data() + acts.size()}};
    run([&] { environments_.restore(state); });
  }

  // Returns the canvases that the environments show now, (N, rows, cols, channels).
  Array<std::uint8_t> canvases() {
    CanvasSize size;
    std::vector<std::uint8_t> bytes;
    run([&] {
      size = environments_.environment_of(0).canvas();
      bytes.resize(n() * size_t_of(size.pixels()));
      std::uint8_t* to = bytes.data();
      for (int i = 0; i < environments_.size();) {
        Environment* lane = &environments_.environment_of(i);
        Tensor<2> seen = zeros<2>(lane->episodes(), size.pixels());
        lane->view(matrix(seen));
        for (int b = 0; b < lane->episodes(); ++b, ++i) {
          if (Environment* mine = &environments_.environment_of(i); mine != lane) {
            lane = mine;
            lane->view(matrix(seen));
          }
          for (int at = 0; at < size.rows * size.cols; ++at)
            for (int c = 0; c < size.channels; ++c)
              *to++ = static_cast<std::uint8_t>(
                  std::lround(255.0F * seen(b, c * size.rows * size.cols + at)));
        }
      }
    });
    auto pixels = new_array<std::uint8_t, 4>(
        {n(), size_t_of(size.rows), size_t_of(size.cols), size_t_of(size.channels)});
    std::ranges::copy(bytes, pixels.data());
    return pixels;
  }

  // Returns a picture of the episode of environment i, (rows, cols, 3).
  Array<std::uint8_t> render(int i) {
    require_shape(i >= 0 && i < sizes_.count);
    const Picture picture = alone([&] {
      if (!picture_) picture_.emplace(newest(), environments_, newest().config.name);
      return picture_->draw(i);
    });
    Array<std::uint8_t> pixels = new_array<std::uint8_t, 3>(
        {size_t_of(picture.rows()), size_t_of(picture.cols()), std::size_t{3}});
    std::ranges::copy(picture.bytes(), pixels.data());
    return pixels;
  }

  const ObservationSizes& sizes() const { return sizes_; }
  const EpisodeRules& rules() const { return environments_.rules(); }
  // The world of the episodes that begin from now on.
  std::shared_ptr<const World> world() const {
    return alone([&] { return worlds_.rbegin()->second.world; });
  }

 private:
  struct SettledWorld {
    std::vector<std::string> settings;
    std::shared_ptr<const World> world;
  };

  SettledWorld world_of(const std::vector<std::string>& settings) const {
    return {settings, compute([&] {
              return make_world(parse_config(kCaller, "environment", settings), digits_);
            })};
  }
  const World& newest() const { return *worlds_.rbegin()->second.world; }
  std::vector<std::vector<std::string>> settings_shown() {
    forget_worlds();
    std::vector<std::vector<std::string>> all;
    for (const auto& [number, each] : worlds_) all.push_back(each.settings);
    return all;
  }
  // Forgets those that no episode shows any more.
  void forget_worlds() {
    std::erase_if(worlds_, [&](const auto& each) {
      return std::ranges::find(environments_.scenes(), each.first) == environments_.scenes().end();
    });
  }
  // Fills in the rules of the episodes from the configuration.
  EpisodeRules completed(EpisodeRules rules) const {
    rules.num_glimpses = newest().config.agent.glimpse.num_glimpses;
    rules.num_boxes = newest().kind.has_digits ? newest().config.scene.num_digits : 1;
    return rules;
  }
  static void require_shape(bool fits) {
    if (!fits) throw InputError("an array does not have the shape that the environments have");
  }
  std::size_t n() const { return size_t_of(sizes_.count); }
  ObservationRows new_rows(std::size_t n) const { return {n, sizes_, rules(), flat_}; }
  // Returns body(), which has the episodes and the worlds to itself. The interpreter is released
  // before the lock is taken, and body must not ask for it.
  template <class Body>
  std::invoke_result_t<Body> alone(const Body& body) const {
    return compute([&] {
      const std::lock_guard lock(one_at_a_time_);
      return body();
    });
  }
  // The same for a body that starts threads.
  template <class Body>
  void run(const Body& body) {
    if (environments_.threaded()) require_threads();
    alone(body);
  }

  const std::shared_ptr<const Digits> digits_;  // the caller's own, or null
  const Split split_;
  std::map<int, SettledWorld> worlds_;  // by their numbers in environments_
  const bool flat_;
  VectorEnvironment environments_;
  const ObservationSizes sizes_;
  std::optional<EnvironmentPicture> picture_;  // created on first use
  mutable std::mutex one_at_a_time_;           // between calling Python threads
};

}  // namespace

void bind_environments(nb::module_& m) {
  nb::enum_<Autoreset>(m, "Autoreset")
      .value("next_step", Autoreset::next_step)
      .value("same_step", Autoreset::same_step)
      .value("disabled", Autoreset::disabled);
  m.def("nearest_key", &nearest_key, "key"_a, "keys"_a,
        "That of the keys which `key` most likely stands for.");
  nb::class_<Environments>(m, "Environments",
                           "N episodes that are stepped side by side; see saccade.envs.")
      .def(
          "__init__",
          [](Environments* self, const std::vector<std::string>& settings,
             const std::optional<Pixels>& images, const std::optional<Labels>& labels,
             const std::vector<std::string>& class_names, const std::string& split, int num_envs,
             bool random_first, bool halt, double look_price, Autoreset autoreset, bool flat,
             int threads) {
            const EpisodeRules rules{.first = random_first ? FirstLook::random : FirstLook::center,
                                     .halt = halt,
                                     .look_price = look_price,
                                     .autoreset = autoreset};
            new (self) Environments(settings, images, labels, class_names, split, num_envs, rules,
                                    flat, threads);
          },
          "settings"_a, "images"_a.none(), "labels"_a.none(), "class_names"_a, "split"_a,
          "num_envs"_a, "random_first"_a, "halt"_a, "look_price"_a, "autoreset"_a, "flat"_a,
          "threads"_a)
      .def("reset", &Environments::reset, "seeds"_a.noconvert(), "mask"_a.noconvert())
      .def("step", &Environments::step, "locations"_a.noconvert(), "answers"_a.noconvert(),
           "halts"_a.noconvert().none())
      .def("final_rows", &Environments::final_rows, "which"_a.noconvert())
      .def("state", &Environments::state)
      .def("restore", &Environments::restore, "running"_a, "counters"_a, "rewards"_a, "paths"_a,
           "answers"_a, "acts"_a)
      .def("change", &Environments::change, "settings"_a)
      .def("follow", &Environments::follow, "others"_a)
      .def_prop_ro("unused",
                   [](const Environments& e) {
                     std::map<std::string, std::string> reasons;
                     const std::shared_ptr<const World> world = e.world();
                     for (const UnusedSetting& setting : world->config.unused)
                       reasons[setting.key] = setting.reason;
                     return reasons;
                   })
      .def_prop_ro("settings", &Environments::settings)
      .def_prop_ro("items", [](const Environments& e) { return items_of(e.world()->config); })
      .def_prop_ro("num_boxes", [](const Environments& e) { return e.rules().num_boxes; })
      .def("canvases", &Environments::canvases)
      .def("render", &Environments::render, "i"_a)
      .def_prop_ro("glimpse_shape",
                   [](const Environments& e) {
                     const ObservationSizes& sizes = e.sizes();
                     return nb::make_tuple(sizes.scales, sizes.channels, sizes.patch, sizes.patch);
                   })
      .def_prop_ro("canvas_size",
                   [](const Environments& e) {
                     const std::shared_ptr<const World> world = e.world();
                     return nb::make_tuple(world->spec.canvas.rows, world->spec.canvas.cols);
                   })
      .def_prop_ro("location_size", [](const Environments& e) { return e.sizes().location; })
      .def_prop_ro("num_glimpses", [](const Environments& e) { return e.rules().num_glimpses; })
      .def_prop_ro("answer_size", [](const Environments& e) { return e.sizes().answer; })
      .def_prop_ro("num_classes", [](const Environments& e) { return e.sizes().classes; })
      .def_prop_ro("answer_kind",
                   [](const Environments& e) {
                     switch (e.world()->kind.answer) {
                       case AnswerKind::sequence:
                         return "sequence";
                       case AnswerKind::actions:
                         return "actions";
                       case AnswerKind::one_class:
                         break;
                     }
                     return "class";
                   })
      .def_prop_ro("class_names", [](const Environments& e) { return e.world()->class_names(); });
}

}  // namespace saccade::python
