#include "base/input_file.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "base/error.h"
#include "tests/special_files.h"
#include "tests/support.h"

namespace saccade {
namespace {

// More than one read buffer.
std::string many_lines() {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "line " + std::to_string(i) + "\n";
  return text + "the end";
}

struct LongFile : TemporaryFolder {
  LongFile() { std::ofstream(file, std::ios::binary) << text; }

  const fs::path file = path / "file";
  const std::string text = many_lines();
};

std::string fault_of(const fs::path& path) {
  return message_of<InputError>([&] { InputFile file(path); });
}

}  // namespace

TEST_CASE("a file is read as by std::ifstream") {
  const LongFile folder;
  InputFile file(folder.file);
  std::ifstream other(folder.file, std::ios::binary);
  CHECK(file.size() == folder.text.size());
  std::string line, same;
  for (int i = 0; i < 100; ++i) {
    REQUIRE(std::getline(file, line));
    REQUIRE(std::getline(other, same));
    CHECK(line == same);
    CHECK(file.tellg() == other.tellg());
  }
  std::string block(100'000, ' ');
  REQUIRE(file.read(block.data(), static_cast<std::streamsize>(block.size())));
  CHECK(block == folder.text.substr(static_cast<std::size_t>(other.tellg()), block.size()));
  for (const std::streamoff place : {70'000, 5, 200'000}) {
    file.seekg(place);
    CHECK(file.tellg() == std::streampos(place));
    CHECK(file.get() == folder.text[static_cast<std::size_t>(place)]);
    file.seekg(2, std::ios::cur);
    CHECK(file.get() == folder.text[static_cast<std::size_t>(place) + 3]);
  }
  file.seekg(-3, std::ios::end);
  REQUIRE(std::getline(file, line));
  CHECK(line == "end");
  CHECK(file.eof());
  CHECK_FALSE(file.bad());
  CHECK_FALSE(std::getline(file, line));
}

TEST_CASE("an empty file ends at once, and a missing one is not opened") {
  const TemporaryFolder folder;
  const fs::path empty = folder.path / "empty", none = folder.path / "none";
  std::ofstream(empty, std::ios::binary).flush();
  CHECK(InputFile(empty).get() == std::char_traits<char>::eof());
  CHECK(InputFile::if_there(empty) != nullptr);
  CHECK(InputFile::if_there(none) == nullptr);
  CHECK(fault_of(none) == none.string() + ": cannot be read: No such file or directory");
}

TEST_CASE("only regular files are opened for reading") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "there";
  for_each_special_file(path, [&] {
    CHECK(fault_of(path) == path.string() + ": not a regular file");
    CHECK(message_of<InputError>([&] { InputFile::if_there(path); }) == fault_of(path));
  });
  for (const char* device : {"/dev/zero", "/dev/null"})
    CHECK(fault_of(device) == std::string(device) + ": not a regular file");
  fs::create_symlink("/dev/zero", path);
  CHECK(fault_of(path) == path.string() + ": not a regular file");
}

}  // namespace saccade
