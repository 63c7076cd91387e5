// A library to be preloaded (LD_PRELOAD) that records, in order, every call that changes a folder
// or syncs it to disk. scripts/torture --power replays the record (scripts/recorded_disk.py).
//
//   SACCADE_RECORD=<file>          receives the record
//   SACCADE_RECORD_BELOW=<folder>  calls on this folder and its contents are recorded
//
// The record of a successful call is a line of tab-separated fields followed by `size` bytes:
//
//   <call> <thread> <inode> <place> <size> <path> <path before>
//
//   create, mkdir     a new file or folder: inode, path
//   write             inode, place: the offset of the bytes that follow, path
//   truncate          inode, place: the new size, path
//   rename, link      path, path before
//   unlink            path; also of a folder
//   sync              inode of a file or folder, path
//
// Calls are serialised, so that the record is in the order of the changes.
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "preload.h"

namespace {

std::mutex mutex;

bool is_recorded(const std::string& path) {
  const char* folder = std::getenv("SACCADE_RECORD_BELOW");
  return folder != nullptr && (path == folder || path.starts_with(std::string(folder) + "/"));
}

struct Change {
  const char* call;
  ino_t inode = 0;
  off_t place = 0;
  std::string path = {}, before = {}, bytes = {};
};

void record(const Change& change) {
  const char* file = std::getenv("SACCADE_RECORD");
  if (file == nullptr) return;
  const int error = errno;
  std::string line = change.call;
  for (const long long number :
       {static_cast<long long>(syscall(SYS_gettid)), static_cast<long long>(change.inode),
        static_cast<long long>(change.place), static_cast<long long>(change.bytes.size())})
    line += "\t" + std::to_string(number);
  append_to(file, line + "\t" + change.path + "\t" + change.before + "\n" + change.bytes + "\n");
  errno = error;
}

bool is_there(const std::string& path) {
  struct stat facts {};
  const int error = errno;
  const bool found = lstat(path.c_str(), &facts) == 0;
  errno = error;
  return found;
}

struct stat facts_of(int file) {
  struct stat facts {};
  fstat(file, &facts);
  return facts;
}

bool failed(int result) { return result < 0; }
bool failed(const FILE* result) { return result == nullptr; }
int number_of(int file) { return file; }
int number_of(FILE* stream) { return fileno(stream); }

// A call that opens a file and may create or truncate it.
template <class Do>
auto opening(const std::string& path, bool empties, Do&& call_it) {
  if (!is_recorded(path)) return call_it();
  const std::lock_guard guard(mutex);
  const bool is_new = !is_there(path);
  const auto result = call_it();
  if (failed(result)) return result;
  const ino_t inode = facts_of(number_of(result)).st_ino;
  if (is_new)
    record({.call = "create", .inode = inode, .path = path});
  else if (empties)
    record({.call = "truncate", .inode = inode, .path = path});
  return result;
}

// A call that changes names.
template <class Do>
int naming(const char* call, const std::string& path, const std::string& before, Do&& call_it) {
  if (!is_recorded(path)) return call_it();
  const std::lock_guard guard(mutex);
  const int result = call_it();
  if (result == 0) record({.call = call, .path = path, .before = before});
  return result;
}

// A call that creates a folder, or changes the file at a path.
template <class Do>
int changing(const char* call, const std::string& path, off_t place, Do&& call_it) {
  if (!is_recorded(path)) return call_it();
  const std::lock_guard guard(mutex);
  const int result = call_it();
  struct stat facts {};
  if (result == 0 && lstat(path.c_str(), &facts) == 0)
    record({.call = call, .inode = facts.st_ino, .place = place, .path = path});
  return result;
}

// A call on an open file.
template <class Do>
int changing(const char* call, int file, off_t place, Do&& call_it) {
  const std::string path = path_of(file);
  if (!is_recorded(path)) return call_it();
  const std::lock_guard guard(mutex);
  const int result = call_it();
  if (result == 0)
    record({.call = call, .inode = facts_of(file).st_ino, .place = place, .path = path});
  return result;
}

// A write that ends at `end(written)`, with the bytes `bytes(written)`.
template <class Do, class End, class Bytes>
ssize_t writing(int file, Do&& call_it, End&& end, Bytes&& bytes) {
  const std::string path = path_of(file);
  if (!is_recorded(path)) return call_it();
  const std::lock_guard guard(mutex);
  const ssize_t written = call_it();
  if (written > 0)
    record({.call = "write",
            .inode = facts_of(file).st_ino,
            .place = end(written) - written,
            .path = path,
            .bytes = bytes(static_cast<std::size_t>(written))});
  return written;
}

std::string text_of(const void* bytes, std::size_t size) {
  return {static_cast<const char*>(bytes), size};
}

}  // namespace

// glibc has variants of these calls for large files; they behave the same.
#define SACCADE_OPEN(name)                                                                      \
  int name(const char* path, int flags, ...) {                                                  \
    va_list arguments;                                                                          \
    va_start(arguments, flags);                                                                 \
    const mode_t mode = mode_of(flags, arguments);                                              \
    va_end(arguments);                                                                          \
    return opening(absolute(path), (flags & O_TRUNC) != 0,                                      \
                   [&] { return next<int(const char*, int, ...)>(#name)(path, flags, mode); }); \
  }
#define SACCADE_OPENAT(name)                                                          \
  int name(int folder, const char* path, int flags, ...) {                            \
    va_list arguments;                                                                \
    va_start(arguments, flags);                                                       \
    const mode_t mode = mode_of(flags, arguments);                                    \
    va_end(arguments);                                                                \
    return opening(absolute(path, folder), (flags & O_TRUNC) != 0, [&] {              \
      return next<int(int, const char*, int, ...)>(#name)(folder, path, flags, mode); \
    });                                                                               \
  }
#define SACCADE_FOPEN(name)                                                                   \
  FILE* name(const char* path, const char* mode) {                                            \
    return opening(absolute(path), mode[0] == 'w',                                            \
                   [&] { return next<FILE*(const char*, const char*)>(#name)(path, mode); }); \
  }
#define SACCADE_PWRITE(name)                                                                       \
  ssize_t name(int file, const void* bytes, size_t size, off_t offset) {                           \
    return writing(                                                                                \
        file,                                                                                      \
        [&] {                                                                                      \
          return next<ssize_t(int, const void*, size_t, off_t)>(#name)(file, bytes, size, offset); \
        },                                                                                         \
        [&](ssize_t written) { return offset + written; },                                         \
        [&](std::size_t written) { return text_of(bytes, written); });                             \
  }
#define SACCADE_SYNC(name)                                                         \
  int name(int file) {                                                             \
    return changing("sync", file, 0, [&] { return next<int(int)>(#name)(file); }); \
  }
#define SACCADE_FTRUNCATE(name)                                                \
  int name(int file, off_t size) {                                             \
    return changing("truncate", file, size,                                    \
                    [&] { return next<int(int, off_t)>(#name)(file, size); }); \
  }
#define SACCADE_TRUNCATE(name)                                                         \
  int name(const char* path, off_t size) {                                             \
    return changing("truncate", absolute(path), size,                                  \
                    [&] { return next<int(const char*, off_t)>(#name)(path, size); }); \
  }
#define SACCADE_TWO_NAMES(name)                                                          \
  int name(const char* from, const char* to) {                                           \
    return naming(#name, absolute(to), absolute(from),                                   \
                  [&] { return next<int(const char*, const char*)>(#name)(from, to); }); \
  }
#define SACCADE_UNLINK(name)                                            \
  int name(const char* path) {                                          \
    return naming("unlink", absolute(path), "",                         \
                  [&] { return next<int(const char*)>(#name)(path); }); \
  }

extern "C" {

SACCADE_OPEN(open)
SACCADE_OPEN(open64)
SACCADE_OPENAT(openat)
SACCADE_OPENAT(openat64)
SACCADE_FOPEN(fopen)
SACCADE_FOPEN(fopen64)
SACCADE_PWRITE(pwrite)
SACCADE_PWRITE(pwrite64)
SACCADE_SYNC(fsync)
SACCADE_SYNC(fdatasync)
SACCADE_FTRUNCATE(ftruncate)
SACCADE_FTRUNCATE(ftruncate64)
SACCADE_TRUNCATE(truncate)
SACCADE_TRUNCATE(truncate64)
SACCADE_TWO_NAMES(rename)
SACCADE_TWO_NAMES(link)
SACCADE_UNLINK(unlink)
SACCADE_UNLINK(remove)
SACCADE_UNLINK(rmdir)

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return naming("rename", absolute(to, to_folder), absolute(from, from_folder), [&] {
    return next<int(int, const char*, int, const char*)>("renameat")(from_folder, from, to_folder,
                                                                     to);
  });
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  return naming("link", absolute(to, to_folder), absolute(from, from_folder), [&] {
    return next<int(int, const char*, int, const char*, int)>("linkat")(from_folder, from,
                                                                        to_folder, to, flags);
  });
}

int unlinkat(int folder, const char* path, int flags) {
  return naming("unlink", absolute(path, folder), "",
                [&] { return next<int(int, const char*, int)>("unlinkat")(folder, path, flags); });
}

int mkdir(const char* path, mode_t mode) {
  return changing("mkdir", absolute(path), 0,
                  [&] { return next<int(const char*, mode_t)>("mkdir")(path, mode); });
}

int mkdirat(int folder, const char* path, mode_t mode) {
  return changing("mkdir", absolute(path, folder), 0, [&] {
    return next<int(int, const char*, mode_t)>("mkdirat")(folder, path, mode);
  });
}

// The file position is at the end of the write, also for an appended file.
ssize_t write(int file, const void* bytes, size_t size) {
  return writing(
      file, [&] { return next<ssize_t(int, const void*, size_t)>("write")(file, bytes, size); },
      [&](ssize_t) { return lseek(file, 0, SEEK_CUR); },
      [&](std::size_t written) { return text_of(bytes, written); });
}

ssize_t writev(int file, const iovec* parts, int count) {
  return writing(
      file, [&] { return next<ssize_t(int, const iovec*, int)>("writev")(file, parts, count); },
      [&](ssize_t) { return lseek(file, 0, SEEK_CUR); },
      [&](std::size_t written) {
        std::string bytes;
        for (int i = 0; i < count; ++i) bytes += text_of(parts[i].iov_base, parts[i].iov_len);
        return bytes.substr(0, written);
      });
}

// Flushed at once, since no library sees what glibc later writes from its buffers.
size_t fwrite(const void* bytes, size_t size, size_t count, FILE* stream) {
  std::size_t done = 0;
  writing(
      fileno(stream),
      [&] {
        done =
            next<size_t(const void*, size_t, size_t, FILE*)>("fwrite")(bytes, size, count, stream);
        if (is_recorded(path_of(fileno(stream)))) fflush(stream);
        return static_cast<ssize_t>(done * size);
      },
      [&](ssize_t) { return ftello(stream); },
      [&](std::size_t written) { return text_of(bytes, written); });
  return done;
}

}  // extern "C"
