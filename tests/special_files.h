#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <thread>

#include "tests/support.h"

namespace saccade {

/// A named pipe whose other end is opened and closed whenever somebody opens this end: a reader
/// that takes it for a file finds it empty instead of blocking forever.
class EmptyPipe {
 public:
  explicit EmptyPipe(const fs::path& path) : path_(path) {
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    pipe_ = open(path.c_str(), O_PATH | O_CLOEXEC);
    REQUIRE(pipe_ >= 0);
    // Stays valid if another file takes its name.
    const std::string same = "/proc/self/fd/" + std::to_string(pipe_);
    writer_ = std::thread([this, same] {
      while (!stop_) close(open(same.c_str(), O_WRONLY | O_CLOEXEC));
    });
  }
  ~EmptyPipe() {
    stop_ = true;
    const std::string same = "/proc/self/fd/" + std::to_string(pipe_);
    const int reader = open(same.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // wakes it up
    writer_.join();
    close(reader);
    close(pipe_);
    std::error_code none;
    if (fs::is_fifo(path_, none)) fs::remove(path_, none);
  }
  EmptyPipe(const EmptyPipe&) = delete;
  EmptyPipe& operator=(const EmptyPipe&) = delete;

 private:
  const fs::path path_;
  int pipe_ = -1;
  std::atomic<bool> stop_{false};
  std::thread writer_;
};

/// Calls `check` with each kind of non-regular file at the path, which does not exist yet: a pipe,
/// a socket, a folder.
inline void for_each_special_file(const fs::path& path, const std::function<void()>& check) {
  {
    const EmptyPipe pipe(path);
    INFO("a pipe");
    check();
  }
  {
    const int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // A socket's path must be short.
    const fs::path before = fs::current_path();
    fs::current_path(path.parent_path());
    std::strncpy(address.sun_path, path.filename().c_str(), sizeof address.sun_path - 1);
    REQUIRE(bind(end, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    fs::current_path(before);
    INFO("a socket");
    check();
    close(end);
    fs::remove(path);
  }
  {
    fs::create_directory(path);
    INFO("a folder");
    check();
    fs::remove(path);
  }
}

}  // namespace saccade
