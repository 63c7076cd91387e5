// Atomic file writes: concurrent, through links, and what they leave behind.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <set>

#include "base/error.h"
#include "base/output.h"
#include "tests/support.h"

namespace saccade {
namespace {

const std::string kAdvice = "--force writes over it, --out names another file";

TEST_CASE("concurrent writes to one path do not disturb each other") {
  const TemporaryFolder folder;
  const fs::path target = folder.path / "video.gif";
  {
    OutputFile one(target, /*force=*/false), two(target, /*force=*/false);
    CHECK(one.path() != two.path());
    for (const OutputFile* file : {&one, &two}) {
      CHECK(file->path().parent_path() == folder.path);
      CHECK(file->path().extension() == ".gif");
      CHECK(NameBeside::is_one(file->path().filename()));
    }
    write_text(one.path(), "one");
    write_text(two.path(), "two");
    two.commit();
    CHECK(bytes_of(target) == "two");
    one.commit();
    CHECK(bytes_of(target) == "one");
    OutputFile(target, /*force=*/true);  // not committed
  }
  CHECK(contents(folder.path) == std::map<std::string, std::string>{{"video.gif", "one"}});
}

TEST_CASE(
    "left-overs of dead writers are removed; files being written and the user's own are kept") {
  const TemporaryFolder folder;
  const auto put = [&](const std::string& name) { put_bytes(folder.path / name, name); };
  const std::set<std::string> left = {"video.saccade.part.0123abcd.gif"};
  const std::set<std::string> mine = {
      "video.part.20260703.gif", "thesis.part.20260703.tex", "video.saccade.part.gif",
      "video.saccade.part.2.gif", "video.saccade.part.0123abc.gif",
      "video.saccade.part.0123ABCD.gif", "video.saccade.part.0123abcde.gif", "a.saccade.part.b",
      // of other targets
      "video.saccade.part.0123abcd.csv", "a video.saccade.part.0123abcd.gif",
      "video.saccade.part.0123abcd", "noun.saccade.part.ffffffff"};
  for (const std::string& name : left) put(name);
  for (const std::string& name : mine) put(name);
  fs::create_directory(folder.path / "agent.saccade.part.0123abcd");
  put("agent.saccade.part.0123abcd/config.yaml");
  const OutputFile written(folder.path / "data.csv", /*force=*/false);
  const OutputFile another(folder.path / "video.gif", /*force=*/false);
  CHECK(fs::exists(written.path()));
  for (const std::string& name : left) CHECK_FALSE(fs::exists(folder.path / name));
  for (const std::string& name : mine) CHECK(bytes_of(folder.path / name) == name);
  CHECK(fs::exists(folder.path / "agent.saccade.part.0123abcd/config.yaml"));
  const OutputFolder agent(folder.path / "agent");
  CHECK_FALSE(fs::exists(folder.path / "agent.saccade.part.0123abcd"));

  // In a folder that only the program writes to, those of every target.
  remove_left_overs(folder.path);
  CHECK_FALSE(fs::exists(folder.path / "noun.saccade.part.ffffffff"));
  CHECK(fs::exists(another.path()));
  CHECK(bytes_of(folder.path / "thesis.part.20260703.tex") == "thesis.part.20260703.tex");
}

TEST_CASE("nothing is written through a symbolic link") {
  const TemporaryFolder folder;
  const fs::path victim = folder.path / "victim", link = folder.path / "link.csv";
  put_bytes(victim, "mine");
  fs::create_symlink(victim, link);
  const std::string fault = link.string() + ": is a symbolic link, which is not followed";
  CHECK(message_of<InputError>([&] { write_text(link, "theirs"); }) == fault);
  CHECK(message_of<InputError>([&] { AppendedFile(link).append("theirs"); }) == fault);
  CHECK(message_of<InputError>([&] { sync_file(link); }) == fault);
  CHECK(bytes_of(victim) == "mine");
  CHECK(contains(message_of<InputError>([&] { OutputFile(link, /*force=*/false); }),
                 "exists already; " + kAdvice));
  replace_text(link, "new");  // the link itself is replaced
  CHECK(bytes_of(victim) == "mine");
  CHECK_FALSE(fs::is_symlink(link));
  CHECK(bytes_of(link) == "new");

  // A link that leads nowhere, as to a disk that is not mounted, is not written over.
  const fs::path dangling = folder.path / "dangling.csv";
  fs::create_symlink(folder.path / "not mounted/a.csv", dangling);
  CHECK(contains(message_of<InputError>([&] { OutputFile(dangling, /*force=*/false); }),
                 "exists already; " + kAdvice));
  CHECK(fs::is_symlink(dangling));
}

TEST_CASE("a pipe without a reader is refused instead of blocking") {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path / "rows.csv";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(contains(message_of<std::exception>([&] { AppendedFile(pipe).append("row"); }),
                 pipe.string() + ": cannot be written: "));
}

TEST_CASE("an appended file keeps its contents unless it starts anew") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "rows.csv";
  AppendedFile(path).append("one\n");
  AppendedFile file(path);
  file.append("two\n");
  file.sync();
  CHECK(bytes_of(path) == "one\ntwo\n");
  AppendedFile(path, /*anew=*/true).append("three\n");
  CHECK(bytes_of(path) == "three\n");
}

TEST_CASE("a folder appears complete or not at all") {
  const TemporaryFolder above;
  const fs::path place = above.path / "new" / "agent";
  {
    const OutputFolder folder(place);
    put_bytes(folder.path() / "half", "half");
    CHECK_FALSE(fs::exists(place));
  }
  CHECK(fs::is_empty(above.path / "new"));
  {
    const OutputFolder folder(place), other(place);
    put_bytes(folder.path() / "a", "a");
    put_bytes(other.path() / "b", "b");
    folder.commit();
    CHECK(contains(message_of<std::exception>([&] { other.commit(); }),
                   place.string() + ": cannot be made: Directory not empty"));
  }
  CHECK(contents(above.path) == std::map<std::string, std::string>{{"new/agent/a", "a"}});
  put_bytes(above.path / "file", "");
  CHECK(contains(message_of<InputError>([&] { OutputFolder(above.path / "file" / "x"); }),
                 "cannot be written: Not a directory"));
}

}  // namespace
}  // namespace saccade
