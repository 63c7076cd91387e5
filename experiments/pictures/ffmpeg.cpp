#include "experiments/pictures/ffmpeg.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "base/input_file.h"
#include "base/output.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "SACCADE_FFMPEG";

// Whether a file begins with the box of an .mp4's type: a length, then "ftyp".
bool begins_as_mp4(const fs::path& path) try {
  InputFile file(path);
  std::array<char, 8> head{};
  file.read(head.data(), head.size());
  return file && std::string_view(head.data() + 4, 4) == "ftyp";
} catch (const std::exception&) {  // it cannot be read
  return false;
}

class Encoder final : public VideoFile {
 public:
  Encoder(const std::string& program, const fs::path& path, const VideoShape& shape,
          const fs::path& name)
      : path_(path), name_(name) {
    std::vector<std::string> words = {program,
                                      "-loglevel",
                                      "quiet",
                                      "-y",
                                      "-f",
                                      "rawvideo",
                                      "-pixel_format",
                                      "rgb24",
                                      "-video_size",
                                      fmt::format("{}x{}", shape.cols, shape.rows),
                                      "-framerate",
                                      fmt::format("{}", shape.fps),
                                      "-i",
                                      "-",
                                      "-vf",
                                      "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                      "-c:v",
                                      "libx264",
                                      "-pix_fmt",
                                      "yuv420p",
                                      "-f",
                                      "mp4",
                                      path.string()};
    start(words);
  }
  ~Encoder() override { end(); }

  bool is_started() const { return child_ > 0; }

  void add(const Picture& frame) override {
    // A socket: a program that has ended is an error here, and no signal.
    const auto bytes = frame.bytes();
    for (std::size_t sent = 0; sent < bytes.size() && takes_;) {
      const ssize_t now = send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (now > 0) sent += static_cast<std::size_t>(now);
      takes_ = now > 0 || errno == EINTR;
    }
  }

  void close() override {
    if (end() != 0 || !takes_ || !begins_as_mp4(path_))
      throw std::runtime_error(
          fmt::format("{}: cannot be written: {}", name_.string(), write_fault(path_)));
  }

 private:
  void start(std::vector<std::string>& words) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;  // a group of its own: Ctrl-C is ours to handle
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    if (posix_spawnp(&child_, arguments[0], &actions, &attributes, arguments.data(), environ) != 0)
      child_ = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[0]);
    socket_ = ends[1];
  }

  /// Returns the status of the program, which has ended.
  int end() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    int status = 0;
    if (child_ > 0)
      while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
      }
    child_ = -1;
    return status;
  }

  fs::path path_, name_;  // where it is, and what messages call it
  pid_t child_ = -1;
  int socket_ = -1;
  bool takes_ = true;  // the program takes frames
};

}  // namespace

bool ffmpeg_is_chosen() {
  const char* chosen = std::getenv(kVariable);
  return chosen != nullptr && *chosen != '\0';
}

std::string ffmpeg_program() { return ffmpeg_is_chosen() ? std::getenv(kVariable) : "ffmpeg"; }

std::unique_ptr<VideoFile> open_with_ffmpeg(const std::string& program, const fs::path& path,
                                            const VideoShape& shape, const fs::path& name) {
  if (!std::ofstream(path, std::ios::app)) return nullptr;
  auto encoder = std::make_unique<Encoder>(program, path, shape, name);
  if (!encoder->is_started()) return nullptr;
  return encoder;
}

}  // namespace saccade
