// A library to be preloaded (LD_PRELOAD): the n-th call of a kind on a file below a folder fails,
// as on a full or broken disk, or ends the process. Used by scripts/torture.
//
//   SACCADE_FAULT=<call>:<n>:<action>[+]
//     call    one of kNames, including its variants: "open" is also openat and fopen; n from 1
//     action  ENOSPC, EIO, EDQUOT, EINTR: the call fails with this error; a close still closes
//             short: half is written or read, and the caller must do the rest
//             kill: half of a write is written, or another call is not done, and the process ends
//             killed: the process ends after the complete call
//             with + all later calls fail as well
//   SACCADE_FAULT_BELOW=<folder>[:...]     calls on other files are not counted
//   SACCADE_FAULT_LOG=<file>               receives "delivered <call> <path>" and at the end
//                                          "<call> <count>" for each call
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "preload.h"

namespace {

enum Call {
  kOpen,
  kRead,
  kWrite,
  kFsync,
  kClose,
  kTruncate,
  kRename,
  kLink,
  kMkdir,
  kMmap,
  kCalls
};
const char* const kNames[kCalls] = {"open",     "read",   "write", "fsync", "close",
                                    "truncate", "rename", "link",  "mkdir", "mmap"};

std::atomic<int> counts[kCalls];

void log_line(const std::string& line) {
  if (const char* path = std::getenv("SACCADE_FAULT_LOG")) append_to(path, line);
}

struct Plan {
  int call = kCalls, n = 0;
  std::string action;
  std::vector<std::string> below;
  bool goes_on = false;

  Plan() {
    const char* list = std::getenv("SACCADE_FAULT_BELOW");
    std::istringstream folders(list == nullptr ? "" : list);
    for (std::string folder; std::getline(folders, folder, ':');) below.push_back(folder + "/");
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
  bool counts_on(const std::string& path) const {
    return std::ranges::any_of(below, [&](const auto& folder) { return path.starts_with(folder); });
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

enum class Fault { none, fails, is_short, ends, ends_after };

// Returns what to do with this call; sets errno if it fails.
Fault fault(Call call, const std::string& path) {
  const int before = errno;
  if (!plan().counts_on(path)) return Fault::none;
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

// A call that is done completely or not at all.
template <class Result, class Do>
Result whole(Call call, const std::string& path, Result failed, Do&& call_it) {
  const Fault what = fault(call, path);
  if (what == Fault::fails) return failed;
  if (what == Fault::ends) end();
  const Result result = call_it();
  if (what == Fault::ends_after) end();
  return result;
}

// A call that can be done partly; `some(size)` writes or reads that many bytes.
template <class Result, class Do>
Result parted(Call call, int file, std::size_t size, Result failed, Do&& some) {
  const Fault what = fault(call, path_of(file));
  if (what == Fault::fails) return failed;
  const bool half = what == Fault::is_short || what == Fault::ends;
  const Result result = some(half ? (size + 1) / 2 : size);
  if (what == Fault::ends || what == Fault::ends_after) end();
  return result;
}

// For close, which takes effect whatever it returns.
int ending(Fault what, int result, int why) {
  if (what == Fault::ends || what == Fault::ends_after) end();
  if (what != Fault::fails) return result;
  errno = why;
  return EOF;
}

// Whether a buffered write or read may reach the file: the first one does, then one per block.
bool reaches(Call call, const std::string& path, std::size_t bytes) {
  constexpr std::size_t kBlock = 4096;
  static std::mutex mutex;
  static std::string last[kCalls];
  static std::size_t buffered[kCalls];
  const std::lock_guard guard(mutex);
  buffered[call] += bytes;
  if (path == last[call] && buffered[call] < kBlock) return false;
  last[call] = path;
  buffered[call] = 0;
  return true;
}

}  // namespace

// glibc has variants of these calls for large files; they behave the same.
#define SACCADE_OPEN(name)                                                                    \
  int name(const char* path, int flags, ...) {                                                \
    va_list arguments;                                                                        \
    va_start(arguments, flags);                                                               \
    const mode_t mode = mode_of(flags, arguments);                                            \
    va_end(arguments);                                                                        \
    return whole(kOpen, absolute(path), -1,                                                   \
                 [&] { return next<int(const char*, int, ...)>(#name)(path, flags, mode); }); \
  }
#define SACCADE_OPENAT(name)                                                          \
  int name(int folder, const char* path, int flags, ...) {                            \
    va_list arguments;                                                                \
    va_start(arguments, flags);                                                       \
    const mode_t mode = mode_of(flags, arguments);                                    \
    va_end(arguments);                                                                \
    return whole(kOpen, absolute(path, folder), -1, [&] {                             \
      return next<int(int, const char*, int, ...)>(#name)(folder, path, flags, mode); \
    });                                                                               \
  }
#define SACCADE_FOPEN(name)                                                                 \
  FILE* name(const char* path, const char* mode) {                                          \
    return whole(kOpen, absolute(path), static_cast<FILE*>(nullptr),                        \
                 [&] { return next<FILE*(const char*, const char*)>(#name)(path, mode); }); \
  }
#define SACCADE_PART(name, call, bytes_type)                                   \
  ssize_t name(int file, bytes_type bytes, size_t size) {                      \
    return parted<ssize_t>(call, file, size, -1, [&](std::size_t part) {       \
      return next<ssize_t(int, bytes_type, size_t)>(#name)(file, bytes, part); \
    });                                                                        \
  }
#define SACCADE_PART_AT(name, call, bytes_type)                                               \
  ssize_t name(int file, bytes_type bytes, size_t size, off_t offset) {                       \
    return parted<ssize_t>(call, file, size, -1, [&](std::size_t part) {                      \
      return next<ssize_t(int, bytes_type, size_t, off_t)>(#name)(file, bytes, part, offset); \
    });                                                                                       \
  }
#define SACCADE_SYNC(name)                                                                \
  int name(int file) {                                                                    \
    return whole(kFsync, path_of(file), -1, [&] { return next<int(int)>(#name)(file); }); \
  }
#define SACCADE_TRUNCATE(name)                                              \
  int name(int file, off_t size) {                                          \
    return whole(kTruncate, path_of(file), -1,                              \
                 [&] { return next<int(int, off_t)>(#name)(file, size); }); \
  }
#define SACCADE_TWO_NAMES(name, call)                                                   \
  int name(const char* from, const char* to) {                                          \
    return whole(call, absolute(to), -1,                                                \
                 [&] { return next<int(const char*, const char*)>(#name)(from, to); }); \
  }

extern "C" {

SACCADE_OPEN(open)
SACCADE_OPEN(open64)
SACCADE_OPENAT(openat)
SACCADE_OPENAT(openat64)
SACCADE_FOPEN(fopen)
SACCADE_FOPEN(fopen64)
SACCADE_PART(read, kRead, void*)
SACCADE_PART(write, kWrite, const void*)
SACCADE_PART_AT(pread, kRead, void*)
SACCADE_PART_AT(pread64, kRead, void*)
SACCADE_PART_AT(pwrite, kWrite, const void*)
SACCADE_PART_AT(pwrite64, kWrite, const void*)
SACCADE_SYNC(fsync)
SACCADE_SYNC(fdatasync)
SACCADE_TRUNCATE(ftruncate)
SACCADE_TRUNCATE(ftruncate64)
SACCADE_TWO_NAMES(rename, kRename)
SACCADE_TWO_NAMES(link, kLink)

ssize_t writev(int file, const iovec* parts, int count) {
  return parted<ssize_t>(kWrite, file, 2, -1, [&](std::size_t part) {
    return part == 2 ? next<ssize_t(int, const iovec*, int)>("writev")(file, parts, count)
                     : next<ssize_t(int, const void*, size_t)>("write")(file, parts[0].iov_base,
                                                                        (parts[0].iov_len + 1) / 2);
  });
}

size_t fwrite(const void* bytes, size_t size, size_t count, FILE* stream) {
  const auto write_some = [&](std::size_t part) {
    return next<size_t(const void*, size_t, size_t, FILE*)>("fwrite")(bytes, size, part, stream);
  };
  return reaches(kWrite, path_of(fileno(stream)), size * count)
             ? parted<size_t>(kWrite, fileno(stream), count, 0, write_some)
             : write_some(count);
}

// There is no short fread: fewer items than requested mean an error or the end.
size_t fread(void* bytes, size_t size, size_t count, FILE* stream) {
  const std::string path = path_of(fileno(stream));
  if (reaches(kRead, path, size * count) && plan().action != "short" &&
      fault(kRead, path) == Fault::fails)
    return 0;
  return next<size_t(void*, size_t, size_t, FILE*)>("fread")(bytes, size, count, stream);
}

int close(int file) {
  const Fault what = fault(kClose, path_of(file));
  const int why = errno, result = next<int(int)>("close")(file);
  return ending(what, result, why);
}

int fclose(FILE* stream) {
  const Fault what = fault(kClose, path_of(fileno(stream)));
  const int why = errno, result = next<int(FILE*)>("fclose")(stream);
  return ending(what, result, why);
}

int mkdir(const char* path, mode_t mode) {
  return whole(kMkdir, absolute(path), -1,
               [&] { return next<int(const char*, mode_t)>("mkdir")(path, mode); });
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  const auto map = [&] {
    return next<void*(void*, size_t, int, int, int, off_t)>("mmap")(address, size, protection,
                                                                    flags, file, offset);
  };
  return file < 0 ? map() : whole(kMmap, path_of(file), MAP_FAILED, map);
}

}  // extern "C"
