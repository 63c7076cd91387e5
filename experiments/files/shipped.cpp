#include "experiments/files/shipped.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExperiments = "experiments";
constexpr const char* kAgents = "models";
constexpr const char* kWeb = "web";

fs::path& host_root() {
  static fs::path root;
  return root;
}

// How to recognise an entry of a shipped folder.
bool is_experiment(const fs::path& path) { return path.extension() == ".yaml"; }
bool is_agent(const fs::path& path) { return fs::exists(path / "config.yaml"); }
bool is_page(const fs::path& path) {
  return fs::exists(path / "index.html") && fs::exists(path / "saccade.wasm");
}

using IsOne = bool (*)(const fs::path&);

std::vector<fs::path> things_in(const fs::path& folder, IsOne is_one) {
  std::vector<fs::path> things;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
    if (is_one(entry.path())) things.push_back(entry.path());
  std::ranges::sort(things);
  return things;
}

constexpr const char* kProgram = "/proc/self/exe";

fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink(kProgram, error).parent_path();
}

// Returns whether a file belongs to root, to the user or to the owner of the program: in a folder
// that all may write, like /tmp, a stranger may put libraries beside a program.
bool is_trusted(const fs::path& path) {
  struct stat file {
  }, program{};
  return path.is_absolute() && stat(path.c_str(), &file) == 0 && stat(kProgram, &program) == 0 &&
         (file.st_uid == 0 || file.st_uid == geteuid() || file.st_uid == program.st_uid);
}

// Returns `share/saccade/<name>` beside the program's `bin`, or `<name>` in the source tree it was
// built in, a few levels up.
std::vector<fs::path> shipped(const char* name, IsOne is_one) {
  if (!host_root().empty()) return things_in(host_root() / name, is_one);
  constexpr int kLevels = 5;  // build/clang/saccade/tests/test_experiments
  fs::path folder = program_folder();
  for (int level = 0; level < kLevels && folder.has_relative_path(); ++level) {
    for (const fs::path& candidate : {folder / "share/saccade" / name, folder / name})
      if (std::vector<fs::path> things = things_in(candidate, is_one); !things.empty())
        return things;
    folder = folder.parent_path();
  }
  return {};
}

std::vector<std::string> names_of(const std::vector<fs::path>& things) {
  std::vector<std::string> names;
  for (const fs::path& thing : things) names.push_back(thing.stem().string());
  return names;
}

fs::path named(const std::string& name, const std::vector<fs::path>& things) {
  const auto found =
      std::ranges::find_if(things, [&](const fs::path& thing) { return thing.stem() == name; });
  return found == things.end() ? fs::path() : *found;
}

}  // namespace

void set_shipped_root(fs::path root) { host_root() = std::move(root); }

std::vector<std::string> shipped_experiments() {
  return names_of(shipped(kExperiments, is_experiment));
}
std::vector<std::string> shipped_agents() { return names_of(shipped(kAgents, is_agent)); }

fs::path shipped_experiment(const std::string& name) {
  return named(name, shipped(kExperiments, is_experiment));
}
fs::path shipped_agent(const std::string& name) { return named(name, shipped(kAgents, is_agent)); }

fs::path shipped_page() {
  const std::vector<fs::path> pages = shipped(kWeb, is_page);
  return pages.empty() ? fs::path() : pages.front();
}

void* open_shipped_library(const std::string& name) {
  const fs::path program = program_folder(), libraries = SACCADE_LIBRARY_FOLDER;
  std::vector<fs::path> places = {program / libraries, program.parent_path() / libraries};
  if (!host_root().empty()) places = {host_root()};
  for (const fs::path& place : places)
    if (is_trusted(place / name))
      if (void* library = dlopen((place / name).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace saccade
