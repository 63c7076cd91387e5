#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "experiments/config/preset.h"
#include "experiments/config/study_run.h"
#include "experiments/config/unused_settings.h"
#include "experiments/training/run_study.h"
#include "experiments/training/train.h"
#include "python/bindings/calls.h"
#include "python/bindings/kept_images.h"
#include "python/bindings/module.h"
#include "python/bindings/own_parts.h"
#include "python/bindings/runs.h"
#include "python/bindings/words.h"
#include "python/bindings/worlds.h"

namespace saccade::python {

namespace nb = nanobind;
namespace fs = std::filesystem;
using namespace nb::literals;

namespace {

/// What a callback may do with the training that waits for it. Every call holds the interpreter, so
/// none is under way when close() is called.
class TrainingAccess {
 public:
  explicit TrainingAccess(TrainingHandle& training) : training_(&training) {}

  TrainingHandle& get() const {
    if (training_ == nullptr)
      throw InputError(
          "training: used after the callback that it was given to; allowed: during the callback");
    return *training_;
  }
  void close() { training_ = nullptr; }

 private:
  TrainingHandle* training_;
};

// The Python object of one for the time of a callback.
class OpenAccess {
 public:
  explicit OpenAccess(TrainingHandle& training) : object_(nb::cast(TrainingAccess(training))) {}
  ~OpenAccess() { nb::cast<TrainingAccess&>(object_).close(); }
  OpenAccess(const OpenAccess&) = delete;
  OpenAccess& operator=(const OpenAccess&) = delete;

  const nb::object& object() const { return object_; }

 private:
  const nb::object object_;
};

// Forwards to the saccade._listening.Listener of one training, identified by its run folder, on the
// calling thread. `row` may request an early stop.
class Listener final : public Progress {
 public:
  Listener(nb::handle python, const OnCaller& on_caller, std::atomic<bool>& stop, fs::path folder)
      : python_(python), on_caller_(on_caller), stop_(stop), folder_(std::move(folder)) {}

  void begin(const RunWork& work) override {
    episodes_ = 0;
    tell("begin", work.episodes);
  }
  void note(const std::string& text) override {
    if (!text.empty()) tell("note", in_python(text));
  }
  void update(std::int64_t episodes, double /*per_second*/, double error) override {
    constexpr std::chrono::milliseconds kBetween{200};
    episodes_ = episodes;
    error_ = error;
    if (Clock::now() - last_update_ < kBetween) return;
    last_update_ = Clock::now();
    tell("update", episodes, error);
  }
  void row(const MetricsRow& row, TrainingHandle& training) override {
    on_caller_([&] {
      const OpenAccess access(training);
      const nb::object stops = python_.attr("row")(folder_, to_python(row), access.object());
      stop_ = stop_ || nb::cast<bool>(stops);
    });
  }
  void finish() override {
    if (episodes_ > 0) tell("update", episodes_, error_);
    tell("finish");
  }

 private:
  template <class... Facts>
  void tell(const char* what, const Facts&... facts) {
    on_caller_([&] { python_.attr(what)(folder_, facts...); });
  }

  nb::handle python_;  // kept alive by the caller
  const OnCaller& on_caller_;
  std::atomic<bool>& stop_;
  const fs::path folder_;
  Clock::time_point last_update_;
  std::int64_t episodes_ = 0;  // at the last update; 0: none yet
  double error_ = 0.0;
};

// The same for the runs of a study.
class StudyListener final : public StudyProgress {
 public:
  StudyListener(nb::handle python, const OnCaller& on_caller, std::atomic<bool>& stop)
      : python_(python), on_caller_(on_caller), stop_(stop) {}

  std::unique_ptr<Progress> begin_run(int run, const std::string& label,
                                      const RunFolder& folder) override {
    folders_[run] = folder.path();
    on_caller_([&] { python_.attr("begin_run")(folder.path(), label); });
    return std::make_unique<Listener>(python_, on_caller_, stop_, folder.path());
  }
  void end_run(int run, const std::string& text, Ending ending) override {
    on_caller_([&] {
      python_.attr("end_run")(folders_.at(run), in_python(text), ending == Ending::failed);
    });
  }
  void note(const std::string& text) override {
    on_caller_([&] { python_.attr("note")(nb::none(), in_python(text)); });
  }

 private:
  nb::handle python_;
  const OnCaller& on_caller_;
  std::atomic<bool>& stop_;
  std::map<int, fs::path> folders_;
};

// The definition of an experiment: a file's text, assignments on top of it, and overrides.
struct ExperimentSource {
  ExperimentSource(
      const std::optional<std::string>& text_, std::string origin_,
      const std::vector<std::tuple<std::string, std::string, std::string>>& assignments_,
      std::vector<std::string> overrides_)
      : text(text_ ? *text_ : read_config_text(origin_)),
        origin(std::move(origin_)),
        overrides(std::move(overrides_)) {
    for (const auto& [key, value, place] : assignments_) assignments.push_back({key, value, place});
  }
  Study study() const { return parse_study(text, origin, assignments, overrides); }

  std::string text, origin;
  std::vector<Assignment> assignments;
  std::vector<std::string> overrides;
};

std::vector<std::string> unused_lines(const ExperimentSource& source) {
  return to_lines(unused_in_all(configs_of(source.study())));
}

fs::path train_run(const ExperimentSource& source, const std::optional<fs::path>& out, bool resume,
                   int threads, const std::string& command, nb::handle listener,
                   nb::handle own_parts) {
  require_threads();
  require_allowed_threads(threads);
  const Study study = source.study();
  if (!study.single)
    throw InputError(source.origin +
                     ": a study of several runs (vary, seeds); saccade.study runs it");
  const StudyRun& run = study.runs.front();
  const RunFolder folder(folder_of(study, run, out.value_or(fs::path())));
  const PythonParts own(own_parts);
  compute_until_stopped([&](std::atomic<bool>& stop, const OnCaller& on_caller) {
    Listener progress(listener, on_caller, stop, folder.path());
    train(run.config, folder,
          {.resume = resume, .threads = threads, .command = command, .own = own.get()}, progress,
          stop);
  });
  return folder.path();
}

fs::path train_study(const ExperimentSource& source, const std::optional<fs::path>& out, int jobs,
                     int threads, const std::string& command, nb::handle listener,
                     nb::handle own_parts) {
  require_threads();
  require_allowed_threads(threads);
  if (jobs != 0) require_allowed("jobs", StudyRequest::kJobs, jobs);
  const Study study = source.study();
  if (study.single)
    throw InputError(source.origin +
                     ": no study: neither vary nor seeds; saccade.train trains a single run");
  const fs::path folder = folder_of(study, out.value_or(fs::path()));
  const PythonParts own(own_parts);
  compute_until_stopped([&](std::atomic<bool>& stop, const OnCaller& on_caller) {
    StudyListener progress(listener, on_caller, stop);
    run_study(
        study,
        {.folder = folder, .jobs = jobs, .threads = threads, .command = command, .own = own.get()},
        progress, stop);
  });
  return folder;
}

}  // namespace

void bind_trainings(nb::module_& m) {
  nb::class_<ExperimentSource>(m, "ExperimentSource",
                               "What was source of an experiment; see saccade._settings.")
      .def(nb::init<const std::optional<std::string>&, std::string,
                    const std::vector<std::tuple<std::string, std::string, std::string>>&,
                    std::vector<std::string>>(),
           "text"_a.none(), "origin"_a, "assignments"_a, "overrides"_a);
  nb::class_<TrainingAccess>(m, "TrainingAccess",
                             "A training while a callback runs; see saccade.Training.")
      .def_prop_ro("episodes", [](const TrainingAccess& self) { return self.get().episodes(); })
      .def_prop_ro("learning_rate",
                   [](const TrainingAccess& self) { return self.get().learning_rate(); })
      .def_prop_rw(
          "learning_rate_factor",
          [](const TrainingAccess& self) { return self.get().learning_rate_factor(); },
          [](const TrainingAccess& self, double factor) {
            self.get().set_learning_rate_factor(factor);
          })
      .def("save_last", [](const TrainingAccess& self) { return self.get().save_last(); })
      .def(
          "save_agent",
          [](const TrainingAccess& self, const fs::path& path) { self.get().save_agent(path); },
          "path"_a);
  m.def("unused_settings", &unused_lines, "source"_a,
        "What was given and nothing reads, a line each.");
  m.def("train", &train_run, "source"_a, "out"_a.none(), "resume"_a, "threads"_a, "command"_a,
        "listener"_a, "own_parts"_a,
        "Trains one run and returns its folder. own_parts: saccade._own_parts.OwnParts.");
  m.def("train_study", &train_study, "source"_a, "out"_a.none(), "jobs"_a, "threads"_a, "command"_a,
        "listener"_a, "own_parts"_a, "Trains the runs of a study likewise.");
  m.def(
      "keep_images",
      [](const Pixels& images, const Labels& labels, const std::optional<Pixels>& test_images,
         const std::optional<Labels>& test_labels, const std::vector<std::string>& class_names,
         const std::string& name, std::uint64_t seed) {
        Dataset set = digit_set(images, labels);
        if (!class_names.empty()) require_names(set, class_names);
        std::optional<Dataset> test;
        if (test_images) test = digit_set(*test_images, *test_labels, "test_images", "test_labels");
        return compute([&] { return keep_images(set, test, class_names, name, seed); });
      },
      "images"_a.noconvert(), "labels"_a.noconvert(), "test_images"_a.noconvert().none(),
      "test_labels"_a.noconvert().none(), "class_names"_a, "name"_a, "seed"_a,
      "Images and labels as IDX files in the cache folder, which is returned.");
}

}  // namespace saccade::python
