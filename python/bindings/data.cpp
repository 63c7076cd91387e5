#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "env/digits.h"
#include "experiments/download/fetch.h"
#include "experiments/download/published.h"
#include "python/bindings/calls.h"
#include "python/bindings/module.h"
#include "python/bindings/words.h"

namespace saccade::python {

namespace nb = nanobind;
namespace fs = std::filesystem;
using namespace nb::literals;

namespace {

// Forwards to a saccade._listening.DownloadListener on the calling thread.
class DownloadListener final : public DownloadProgress {
 public:
  DownloadListener(nb::handle python, const OnCaller& on_caller)
      : python_(python), on_caller_(on_caller) {}

  void begin(const std::string& name, std::int64_t bytes) override { tell("begin", name, bytes); }
  void update(std::int64_t bytes) override {
    constexpr std::chrono::milliseconds kBetween{200};
    if (Clock::now() - last_update_ < kBetween) return;
    last_update_ = Clock::now();
    tell("update", bytes);
  }
  void end(bool whole, const std::string& url) override { tell("end", whole, url); }
  void note(const std::string& text) override { tell("note", in_python(text)); }

 private:
  template <class... Facts>
  void tell(const char* what, const Facts&... facts) {
    on_caller_([&] { python_.attr(what)(facts...); });
  }

  nb::handle python_;  // kept alive by the caller
  const OnCaller& on_caller_;
  Clock::time_point last_update_;
};

fs::path download_set(const std::string& name, const std::optional<fs::path>& out,
                      const std::string& mirror, bool force, nb::handle listener) {
  const std::vector<PublishedFile>& files = published_files(name);
  if (!out && cache_folder().empty())
    throw InputError("out: needed, as neither XDG_CACHE_HOME nor HOME names a cache folder");
  const fs::path folder = out ? *out : cache_folder() / name;
  compute_until_stopped([&](std::atomic<bool>& stop, const OnCaller& on_caller) {
    DownloadListener progress(listener, on_caller);
    fetch(files, folder, mirror, force, progress, stop);
  });
  return folder;
}

}  // namespace

void bind_data(nb::module_& m) {
  m.def("published_sets", &published_sets, "The names of the digit sets that can be downloaded.");
  m.def("download", &download_set, "name"_a, "out"_a.none(), "mirror"_a, "force"_a, "listener"_a,
        "`saccade data NAME`: returns the folder.");
}

}  // namespace saccade::python
