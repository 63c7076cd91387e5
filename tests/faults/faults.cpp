// A library to be preloaded (LD_PRELOAD): the n-th call of a kind on a file below a folder fails,
// as on a full or broken disk, or ends the process. scripts/torture uses it.
//
//   SACCADE_FAULT=<call>:<n>:<action>[+]   call: open, write, fsync, rename, link, mmap; n from 1
//   on
//     action  ENOSPC, EIO, EDQUOT, EINTR: the call fails so; short: half is written, and the rest
//     is
//             for the caller; kill: half of a write is written, or nothing else is done, and the
//             process is gone; killed: likewise, after the whole call. With + all later calls fail.
//   SACCADE_FAULT_BELOW=<folder>           calls on other files are not counted
//   SACCADE_FAULT_LOG=<file>               gets "delivered <call> <path>" and at the end
//                                          "<call> <count>" of each
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace {

enum Call { kOpen, kWrite, kFsync, kRename, kLink, kMmap, kCalls };
const char* const kNames[kCalls] = {"open", "write", "fsync", "rename", "link", "mmap"};

std::atomic<int> counts[kCalls];

// Not by what is replaced below.
void log_line(const std::string& line) {
  const char* path = std::getenv("SACCADE_FAULT_LOG");
  if (path == nullptr) return;
  const int file = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (file < 0) return;
  syscall(SYS_write, file, line.data(), line.size());
  syscall(SYS_close, file);
}

struct Plan {
  int call = kCalls, n = 0;
  std::string action, below;
  bool goes_on = false;

  Plan() {
    if (const char* folder = std::getenv("SACCADE_FAULT_BELOW")) below = std::string(folder) + "/";
    const char* said = std::getenv("SACCADE_FAULT");
    if (said == nullptr) return;
    const std::string text = said;
    const std::size_t first = text.find(':'), second = text.find(':', first + 1);
    for (int c = 0; c < kCalls; ++c)
      if (text.substr(0, first) == kNames[c]) call = c;
    n = std::atoi(text.c_str() + first + 1);
    action = text.substr(second + 1);
    goes_on = action.ends_with('+');
    if (goes_on) action.pop_back();
  }
  ~Plan() {
    for (int c = 0; c < kCalls; ++c)
      log_line(std::string(kNames[c]) + " " + std::to_string(counts[c]) + "\n");
  }
};

const Plan& plan() {
  static const Plan the_plan;
  return the_plan;
}

std::string path_of(int file) {
  char path[PATH_MAX];
  const ssize_t size =
      readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
  return size < 0 ? "" : std::string(path, static_cast<std::size_t>(size));
}

std::string absolute(const char* path) {
  if (path[0] == '/') return path;
  char folder[PATH_MAX];
  return getcwd(folder, sizeof folder) == nullptr ? path : std::string(folder) + "/" + path;
}

enum class Fault { none, fails, is_short, ends, ends_after };

// What is to happen to this call; sets errno where it fails.
Fault fault(Call call, const std::string& path) {
  const int before = errno;
  if (!path.starts_with(plan().below)) return Fault::none;
  const int n = ++counts[call];
  if (call != plan().call || n < plan().n || (n > plan().n && !plan().goes_on)) return Fault::none;
  log_line(std::string("delivered ") + kNames[call] + " " + path + "\n");
  errno = before;
  const std::string& action = plan().action;
  if (action == "short") return Fault::is_short;
  if (action == "kill") return Fault::ends;
  if (action == "killed") return Fault::ends_after;
  errno = action == "ENOSPC"   ? ENOSPC
          : action == "EDQUOT" ? EDQUOT
          : action == "EINTR"  ? EINTR
                               : EIO;
  return Fault::fails;
}

[[noreturn]] void end() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// A call that is done or not.
template <class Result, class Do>
Result whole(Call call, const std::string& path, Result failed, Do&& call_it) {
  const Fault what = fault(call, path);
  if (what == Fault::fails) return failed;
  if (what == Fault::ends) end();
  const Result result = call_it();
  if (what == Fault::ends_after) end();
  return result;
}

// One that may be done in part; `write_some(size)` writes so much.
template <class Result, class Do>
Result parted(int file, std::size_t size, Result failed, Do&& write_some) {
  const Fault what = fault(kWrite, path_of(file));
  if (what == Fault::fails) return failed;
  const bool half = what == Fault::is_short || what == Fault::ends;
  const Result result = write_some(half ? (size + 1) / 2 : size);
  if (what == Fault::ends || what == Fault::ends_after) end();
  return result;
}

// Whether a buffered write may reach the file: the first on it, and then once a block.
bool reaches(const std::string& path, std::size_t bytes) {
  constexpr std::size_t kBlock = 4096;
  static std::mutex mutex;
  static std::string last;
  static std::size_t buffered = 0;
  const std::lock_guard guard(mutex);
  buffered += bytes;
  if (path == last && buffered < kBlock) return false;
  last = path;
  buffered = 0;
  return true;
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return whole(kOpen, absolute(path), -1,
               [&] { return next<int(const char*, int, ...)>("open")(path, flags, mode); });
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return whole(kOpen, absolute(path), -1,
               [&] { return next<int(const char*, int, ...)>("open64")(path, flags, mode); });
}

FILE* fopen(const char* path, const char* mode) {
  return whole(kOpen, absolute(path), static_cast<FILE*>(nullptr),
               [&] { return next<FILE*(const char*, const char*)>("fopen")(path, mode); });
}

FILE* fopen64(const char* path, const char* mode) {
  return whole(kOpen, absolute(path), static_cast<FILE*>(nullptr),
               [&] { return next<FILE*(const char*, const char*)>("fopen64")(path, mode); });
}

ssize_t write(int file, const void* bytes, size_t size) {
  return parted<ssize_t>(file, size, -1, [&](std::size_t part) {
    return next<ssize_t(int, const void*, size_t)>("write")(file, bytes, part);
  });
}

ssize_t writev(int file, const iovec* parts, int count) {
  return parted<ssize_t>(file, 2, -1, [&](std::size_t part) {
    return part == 2 ? next<ssize_t(int, const iovec*, int)>("writev")(file, parts, count)
                     : next<ssize_t(int, const void*, size_t)>("write")(file, parts[0].iov_base,
                                                                        (parts[0].iov_len + 1) / 2);
  });
}

size_t fwrite(const void* bytes, size_t size, size_t count, FILE* stream) {
  const auto write_some = [&](std::size_t part) {
    return next<size_t(const void*, size_t, size_t, FILE*)>("fwrite")(bytes, size, part, stream);
  };
  return reaches(path_of(fileno(stream)), size * count)
             ? parted<size_t>(fileno(stream), count, 0, write_some)
             : write_some(count);
}

int fsync(int file) {
  return whole(kFsync, path_of(file), -1, [&] { return next<int(int)>("fsync")(file); });
}

int rename(const char* from, const char* to) {
  return whole(kRename, absolute(to), -1,
               [&] { return next<int(const char*, const char*)>("rename")(from, to); });
}

int link(const char* from, const char* to) {
  return whole(kLink, absolute(to), -1,
               [&] { return next<int(const char*, const char*)>("link")(from, to); });
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  const auto map = [&] {
    return next<void*(void*, size_t, int, int, int, off_t)>("mmap")(address, size, protection,
                                                                    flags, file, offset);
  };
  return file < 0 ? map() : whole(kMmap, path_of(file), MAP_FAILED, map);
}

}  // extern "C"
