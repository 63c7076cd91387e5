#include "experiments/runs/folder_lock.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <regex>
#include <thread>

#include "base/stop.h"
#include "experiments/runs/run_failure.h"
#include "experiments/runs/run_folder.h"
#include "tests/experiments/support.h"
#include "tests/special_files.h"

// Replaces that of the C library: fails while a test simulates a file system without locks.
static std::atomic<int> flock_error{0};
extern "C" int flock(int file, int operation) {
  errno = flock_error;
  return flock_error != 0 ? -1 : static_cast<int>(syscall(SYS_flock, file, operation));
}

namespace saccade {
namespace {

struct LockedFolder : TemporaryFolder {
  fs::path run = path / "study/base/seed-1";

  std::string fault() const {
    return message_of<HeldError>([&] { RunLock(run, "again"); });
  }
};

}  // namespace

TEST_CASE("only one training can hold a folder, and the holder is reported") {
  const LockedFolder folder;
  const RunLock lock(folder.run, "saccade run x.yaml");
  const std::string message = folder.fault();
  INFO(message);
  CHECK(std::regex_match(
      message,
      std::regex(fmt::format("{}: is being trained by process {} on host .+, of user .+, "
                             "since [0-9]{{4}}-[0-9][0-9]-[0-9][0-9] [0-9:]{{8}}; wait for "
                             "it, stop it, or choose another folder by --out",
                             folder.run.string(), getpid()))));
  const std::optional<Holder> holder = find_holder(folder.run);
  REQUIRE(holder);
  CHECK(holder->command == "saccade run x.yaml");
  CHECK(folder.fault() == message);  // the refused attempt changed nothing
}

TEST_CASE("who waits for a study's lock is told once who holds it, and can be stopped") {
  const LockedFolder folder;
  const StudyLock held(folder.path);
  std::atomic<bool> stop = false;
  Names holders;
  CHECK_FALSE(unless_stopped(stop, [&] {
    const StudyLock second(folder.path, [&](const Holder& holder) {
      holders.push_back(holder.process);
      stop = true;
    });
  }));
  REQUIRE(holders.size() == 1);
  CHECK(holders[0].starts_with(fmt::format("process {} on host ", getpid())));
  CHECK(fs::exists(folder.path / ".lock"));  // that of the holder
}

TEST_CASE("a lock is a regular file") {
  const LockedFolder folder;
  fs::create_directories(folder.run);
  const fs::path path = folder.run / kLockFile;
  {
    const EmptyPipe pipe(path);
    CHECK(message_of<InputError>([&] { RunLock(folder.run, ""); }) ==
          path.string() + ": not a regular file");
    CHECK_FALSE(find_holder(folder.run));
    CHECK(fs::is_fifo(path));
  }
  for_each_special_file(path, [&] {
    CHECK(message_of<InputError>([&] { RunLock(folder.run, ""); }).starts_with(path.string()));
    CHECK_FALSE(find_holder(folder.run));
  });
  const RunLock lock(folder.run, "");
  CHECK(find_holder(folder.run));
}

TEST_CASE("a lock leaves nothing behind but what others put into its folder") {
  const LockedFolder folder;
  { const RunLock lock(folder.run, ""); }
  CHECK(fs::is_empty(folder.path));
  {
    const RunLock lock(folder.run, "");
    CHECK_FALSE(RunFolder(folder.run).exists());
    put_bytes(folder.path / "study/study.txt", "mine");
  }
  CHECK_FALSE(fs::exists(folder.path / "study/base"));
  CHECK(fs::exists(folder.path / "study/study.txt"));
  fs::create_directories(folder.run);
  { const RunLock lock(folder.run, ""); }
  CHECK(fs::is_empty(folder.run));  // folders made by others are kept
  CHECK_FALSE(find_holder(folder.run));
  CHECK_FALSE(find_holder(folder.path / "none"));
}

TEST_CASE("a lock ends with its process, however that ends") {
  const LockedFolder folder;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const RunLock lock(folder.run, "");
    static_cast<void>(write(ready[1], "x", 1) == 1);
    pause();
    _exit(0);
  }
  char letter = 0;
  REQUIRE(read(ready[0], &letter, 1) == 1);
  CHECK(contains(folder.fault(), fmt::format("by process {} on host ", child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  CHECK(fs::exists(folder.run / kLockFile));  // a killed process cannot remove the file
  CHECK_FALSE(find_holder(folder.run));
  CHECK_FALSE(RunFolder(folder.run).exists());
  const RunLock mine(folder.run, "");
  CHECK(contains(folder.fault(), fmt::format("by process {} on host ", getpid())));
}

TEST_CASE("looking up the holder does not disturb a training") {
  const LockedFolder folder;
  fs::create_directories(folder.run);
  put_bytes(folder.run / kLockFile, "");
  std::atomic<bool> done{false};
  std::thread looker([&] {
    while (!done) find_holder(folder.run);
  });
  for (int i = 0; i < 2000; ++i) const RunLock lock(folder.run, "");  // throws if it is held
  done = true;
  looker.join();
}

TEST_CASE("exactly one of many concurrent attempts gets the lock") {
  const LockedFolder folder;
  std::atomic<int> inside{0}, taken{0};
  std::atomic<bool> alone{true};
  const auto take = [&] {
    for (int i = 0; i < 300; ++i) try {
        const RunLock lock(folder.run, "");
        if (++inside != 1) alone = false;
        ++taken;
        std::this_thread::yield();
        --inside;
      } catch (const HeldError&) {
        std::this_thread::yield();
      }
  };
  { std::jthread one(take), two(take), three(take); }
  CHECK(alone);
  CHECK(taken > 0);
}

TEST_CASE("a folder that vanishes while being made is made again") {
  const LockedFolder folder;
  std::atomic<int> letting_go{3};
  const auto hold_own = [&](const std::string& name) {
    for (int i = 0; i < 400; ++i) const RunLock lock(folder.path / "study/base" / name, "");
    --letting_go;
  };
  std::jthread one(hold_own, "seed-1"), two(hold_own, "seed-2"), three(hold_own, "seed-3");
  while (letting_go > 0) const RunLock lock(folder.path / "study/base/seed-4", "");
}

TEST_CASE("study locks serialise writers") {
  const TemporaryFolder folder;
  int count = 0;  // guarded only by the lock
  const auto work = [&] {
    for (int i = 0; i < 200; ++i) {
      const StudyLock lock(folder.path / "study");
      const int before = count;
      std::this_thread::yield();
      count = before + 1;
    }
  };
  { std::jthread one(work), two(work); }
  CHECK(count == 400);
  CHECK(fs::is_empty(folder.path / "study"));
}

TEST_CASE("an impossible lock is reported with its path") {
  const TemporaryFolder folder;
  put_bytes(folder.path / "file", "");
  CHECK(message_of<InputError>([&] { RunLock(folder.path / "file/out", ""); }) ==
        (folder.path / "file/out").string() + ": the folder cannot be made: Not a directory");
  fs::create_symlink(folder.path / "none/none", folder.path / "link");  // whose target never exists
  CHECK(contains(message_of<InputError>([&] { RunLock(folder.path / "link/out", ""); }),
                 "/link/out: the folder cannot be made: "));
  CHECK(contains(message_of<InputError>([&] { RunLock("/proc/none/out", ""); }),
                 "/proc/none/out: the folder cannot be made: No such file or directory"));
  fs::create_directories(folder.path / "out/lock");
  CHECK(message_of<InputError>([&] { RunLock(folder.path / "out", ""); }) ==
        (folder.path / "out/lock").string() + ": cannot be written: Is a directory");
}

TEST_CASE("a lock that was replaced is no longer owned, and is left to its new owner") {
  const LockedFolder folder;
  auto mine = std::make_unique<RunLock>(folder.run, "mine");
  CHECK(mine->is_own());
  mine->require_own();
  fs::remove_all(folder.path / "study");
  CHECK_FALSE(mine->is_own());
  const RunLock theirs(folder.run, "theirs");
  CHECK_FALSE(mine->is_own());
  CHECK(contains(message_of<std::runtime_error>([&] { mine->require_own(); }),
                 folder.run.string() + ": was removed or replaced while "));
  mine.reset();
  CHECK(theirs.is_own());
  REQUIRE(find_holder(folder.run));
  CHECK(find_holder(folder.run)->command == "theirs");
}

TEST_CASE("a file system without locks is reported, and nothing is left there") {
  const LockedFolder folder;
  for (const int error : {ENOLCK, ENOSYS, EOPNOTSUPP}) {
    flock_error = error;
    const std::string said = message_of<InputError>([&] { RunLock(folder.run, ""); });
    CHECK(said.starts_with((folder.run / kLockFile).string() + ": cannot be locked: "));
    CHECK(contains(said, "; this file system has no locks, "));
    CHECK(fs::is_empty(folder.path));
  }
  flock_error = EIO;
  CHECK(contains(message_of<std::runtime_error>([&] { RunLock(folder.run, ""); }),
                 "lock: cannot be locked: Input/output error"));
  CHECK(fs::is_empty(folder.path));

  // An existing lock file, such as that of a killed process, is kept.
  fs::create_directories(folder.run);
  put_bytes(folder.run / kLockFile, "somebody\n");
  CHECK(contains(message_of<std::runtime_error>([&] { RunLock(folder.run, ""); }), "locked"));
  CHECK(bytes_of(folder.run / kLockFile) == "somebody\n");
  flock_error = 0;
}

TEST_CASE("a failure is kept until the next attempt, and only in run folders") {
  const LockedFolder folder;
  const RunFolder run(folder.run);
  CHECK_FALSE(read_failure(run));
  fs::create_directories(folder.run);
  keep_failure(run, "no data\nat all");
  const std::optional<RunFailure> failure = read_failure(run);
  REQUIRE(failure);
  CHECK(failure->message == "no data\nat all");
  CHECK(contains(failure->origin, fmt::format("process {} on host ", getpid())));
  CHECK_FALSE(run.exists());

  put_bytes(folder.path / "thesis.tex", "everything");
  keep_failure(RunFolder(folder.path), "no data");
  CHECK_FALSE(read_failure(RunFolder(folder.path)));
}

}  // namespace saccade
