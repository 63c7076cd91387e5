// Downloading whole datasets: fetch(), and `saccade data NAME`.
#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>

#include <memory>
#include <set>

#include "base/error.h"
#include "experiments/download/checksum.h"
#include "experiments/download/fetch.h"
#include "experiments/download/unpack.h"
#include "tests/experiments/http_server.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

using Reply = HttpServer::Reply;
using Request = HttpServer::Request;
using Files = std::map<std::string, std::string>;  // name -> bytes

PublishedFile published(const TemporaryFolder& scratch, const std::string& name,
                        const std::string& bytes) {
  put_bytes(scratch.path / "bytes", bytes);
  return {name, static_cast<std::int64_t>(bytes.size()), sha256_of(scratch.path / "bytes"), {}};
}

/// An archive with these files, each in a folder, and a folder named like the first file.
std::string archive_of(const Files& files, bool zip) {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "archive").string();
  const std::unique_ptr<archive, decltype(&archive_write_free)> writer(archive_write_new(),
                                                                       archive_write_free);
  if (zip) {
    archive_write_set_format_zip(writer.get());
  } else {
    archive_write_add_filter_gzip(writer.get());
    archive_write_set_format_ustar(writer.get());
  }
  REQUIRE(archive_write_open_filename(writer.get(), path.c_str()) == ARCHIVE_OK);
  const auto add = [&](const std::string& name, const std::string& bytes, unsigned kind) {
    const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                              archive_entry_free);
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), kind);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    REQUIRE(archive_write_header(writer.get(), entry.get()) == ARCHIVE_OK);
    archive_write_data(writer.get(), bytes.data(), bytes.size());
  };
  add("set/" + files.begin()->first, "", AE_IFDIR);
  for (const auto& file : files) add("set/inner/" + file.first, file.second, AE_IFREG);
  REQUIRE(archive_write_close(writer.get()) == ARCHIVE_OK);
  return bytes_of(path);
}

/// Two files and an archive with two more, published by a server.
struct Published {
  Published() {
    for (const auto& file : on_server) files.push_back(published(scratch, file.first, file.second));
    const std::string packed =
        archive_of({{"three", std::string(5000, '3')}, {"four", "4"}, {"five", "5"}}, zip);
    on_server["all.zip"] = packed;
    files.push_back(published(scratch, "all.zip", packed));
    files.back().members = {"three", "four"};
    for (PublishedFile& file : files) file.urls = {server.url("/" + file.name)};
  }
  Reply answer(const Request& request) const {
    const auto found = on_server.find(fs::path(request.path).filename().string());
    if (found == on_server.end()) return {.status = 404};
    return HttpServer::file(request, found->second);
  }
  bool get(bool force = false, const std::string& mirror = "") {
    DownloadProgress none;
    return fetch(files, folder.path / "set", mirror, force, none, stop);
  }
  template <class Error>
  std::string fault(bool force = false, const std::string& mirror = "") {
    return message_of<Error>([&] { get(force, mirror); });
  }
  Files there() const { return contents(folder.path / "set"); }

  static constexpr bool zip = true;
  TemporaryVariable no_proxy{"no_proxy", "127.0.0.1"};
  TemporaryFolder folder, scratch;
  Files on_server = {{"one", "first"}, {"two", "second"}};
  std::vector<PublishedFile> files;
  std::atomic<bool> stop{false};
  HttpServer server{[this](const Request& request) { return answer(request); }};
};

const Files kAll = {
    {"one", "first"}, {"two", "second"}, {"three", std::string(5000, '3')}, {"four", "4"}};

TEST_CASE("a dataset is downloaded, and its archives are unpacked and removed") {
  Published set;
  CHECK(set.get());
  CHECK(set.there() == kAll);
  const Names requests = set.server.requests();
  CHECK(requests == Names{"/one", "/two", "/all.zip"});
  CHECK(set.get());  // nothing left to do
  CHECK(set.server.requests() == requests);
  CHECK(set.there() == kAll);
}

TEST_CASE("existing files are kept, missing ones are downloaded") {
  Published set;
  CHECK(set.get());
  fs::remove(set.folder.path / "set" / "two");
  fs::remove(set.folder.path / "set" / "three");
  put_bytes(set.folder.path / "set" / "four", "mine");
  CHECK(set.get());
  const Names requests = set.server.requests();
  REQUIRE(requests.size() >= 3);
  CHECK(Names(requests.begin() + 3, requests.end()) == Names{"/two", "/all.zip"});
  Files all = kAll;
  all["four"] = "mine";
  CHECK(set.there() == all);
  CHECK(set.get(/*force=*/true));
  CHECK(set.there() == kAll);
}

TEST_CASE("a file that differs from the published one is replaced only with force") {
  Published set;
  fs::create_directories(set.folder.path / "set");
  put_bytes(set.folder.path / "set" / "one", "FIRST");
  const std::string fault = set.fault<InputError>();
  check_contains(fault, {(set.folder.path / "set" / "one").string(), "--force replaces it"});
  CHECK(set.there() == Files{{"one", "FIRST"}});
  CHECK(set.get(/*force=*/true));
  CHECK(set.there() == kAll);
}

TEST_CASE("an archive that is already in the folder is unpacked and kept") {
  Published set;
  fs::create_directories(set.folder.path / "set");
  put_bytes(set.folder.path / "set" / "all.zip", set.on_server["all.zip"]);
  CHECK(set.get());
  CHECK(set.server.requests() == Names{"/one", "/two"});
  Files all = kAll;
  all["all.zip"] = set.on_server["all.zip"];
  CHECK(set.there() == all);
}

TEST_CASE("a mirror is used instead of the published places") {
  Published set;
  const std::string mirror = set.server.url("/copies");
  for (PublishedFile& file : set.files) file.urls = {"http://127.0.0.1:1/nobody"};
  CHECK(set.get(false, mirror));
  CHECK(set.server.requests() == Names{"/copies/one", "/copies/two", "/copies/all.zip"});
  CHECK(set.there() == kAll);
  fs::remove_all(set.folder.path / "set");
  CHECK(set.get(false, mirror + "/"));
  CHECK(set.server.requests().size() == 6);
  CHECK(contains(set.fault<InputError>(false, "ftp://host/copies"), "--mirror ftp://host/copies"));
}

TEST_CASE("a failed download says which files to put where") {
  Published set;
  set.on_server.erase("two");
  set.files[1].urls.push_back(HttpServer::dead_url("/two"));
  const std::string fault = set.fault<DownloadFailure>();
  CAPTURE(fault);
  CHECK(fault.starts_with("download of two failed:\n  " + set.files[1].urls[0] +
                          ": HTTP status 404\n"));
  CHECK(contains(fault, "put them into " + (set.folder.path / "set").string() + ":"));
  for (const PublishedFile& file : set.files)
    CHECK(contains(fault, fmt::format("  {}\n    as {}, {} bytes, SHA-256 {}", file.urls.back(),
                                      file.name, file.bytes, file.sha256)));
  CHECK(contains(fault, "--mirror URL"));
  CHECK(set.there() == Files{{"one", "first"}});
}

TEST_CASE("an archive with other contents is reported, and nothing half unpacked remains") {
  const TemporaryFolder folder;
  const fs::path archive = folder.path / "archive";
  for (const bool zip : {false, true}) {
    CAPTURE(zip);
    const std::string packed = archive_of({{"a", std::string(90'000, 'a')}, {"b", "b"}}, zip);
    put_bytes(archive, packed);
    CHECK(message_of<std::runtime_error>([&] {
            unpack(archive, {"c", "b"}, folder.path);
          }) == archive.string() + ": cannot be unpacked: it does not have c");
    fs::remove(folder.path / "b");
    put_bytes(archive, packed.substr(0, 60));
    CHECK(contains(message_of<std::runtime_error>([&] { unpack(archive, {"a"}, folder.path); }),
                   archive.string() + ": cannot be unpacked: "));
    CHECK(contents(folder.path).size() == 1);
    put_bytes(archive, packed);
    unpack(archive, {"a"}, folder.path);
    CHECK(bytes_of(folder.path / "a") == std::string(90'000, 'a'));
    fs::remove(folder.path / "a");
  }
  put_bytes(archive, "no archive");
  CHECK(contains(message_of<std::runtime_error>([&] { unpack(archive, {"a"}, folder.path); }),
                 archive.string() + ": cannot be unpacked: "));
}

TEST_CASE("the table of published files is complete for each source") {
  std::set<std::string> checksums;
  for (const std::string& source : published_sets()) {
    CAPTURE(source);
    CHECK_NOTHROW(digits_come_from_files(source));  // it is a source
    for (const PublishedFile& file : published_files(source)) {
      CAPTURE(file.name);
      CHECK(file.bytes > 0);
      CHECK(file.sha256.size() == 64);
      CHECK(file.sha256.find_first_not_of("0123456789abcdef") == std::string::npos);
      CHECK(checksums.insert(file.sha256).second);
      CHECK(file.urls.size() >= 2);
      for (const std::string& url : file.urls) CHECK_NOTHROW(check_url(url, "table"));
    }
  }
  CHECK(contains(
      message_of<InputError>([] { published_files("mnits"); }),
      "unknown digit set 'mnits'; allowed: mnist, fashion, kmnist, emnist, svhn, cifar10"));
}

// ---- The program ----

struct Typed : TemporaryFolder {
  TemporaryVariable no_proxy{"no_proxy", "127.0.0.1"};
  TemporaryVariable cache{"XDG_CACHE_HOME", (path / "cache").c_str()};
};

TEST_CASE("saccade data downloads into the cache folder, and exits with 1 on failure") {
  const Typed typed;
  const HttpServer server([](const Request&) { return Reply{.status = 403}; });
  const Program::Result refused =
      run_saccade(typed.path, {"data", "fashion", "--mirror", server.url("/copies")});
  CHECK(refused.code == 1);
  CHECK(refused.out == "");
  CHECK(server.requests() == Names{"/copies/train-images-idx3-ubyte.gz"});
  check_contains(refused.err,
                 {"saccade: download of train-images-idx3-ubyte.gz failed:\n",
                  "put them into " + (typed.path / "cache/saccade/fashion").string(),
                  "SHA-256 a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc"});

  const std::string dead = HttpServer::dead_url("/");
  const Program::Result offline =
      run_saccade(typed.path, {"data", "cifar10", "--mirror", dead, "--out", "here"});
  CHECK(offline.code == 1);
  check_contains(offline.err, {dead + "cifar-10-binary.tar.gz: Failed to connect",
                               "put them into here:", "unpacks"});
}

TEST_CASE("an interrupted saccade data keeps the part and exits with 130") {
  const Typed typed;
  const HttpServer server([](const Request&) {
    return Reply{.body = std::string(50'000, 'x'), .length = 9912422, .holds = true};
  });
  Program program(typed.path, saccade_words({"data", "mnist", "--mirror", server.url("/")}));
  const fs::path part = typed.path / "cache/saccade/mnist/train-images-idx3-ubyte.gz.part";
  std::error_code ignored;
  while (fs::file_size(part, ignored) != 50'000) std::this_thread::yield();
  program.send(SIGINT);
  const Program::Result result = program.finish();
  CHECK(result.code == 130);
  CHECK(result.err == "stopped; the same command continues the download\n");
  CHECK(fs::file_size(part) == 50'000);
}

TEST_CASE("bad usage of saccade data exits with 2") {
  const Typed typed;
  const auto check = [&](const CommandWords& words, const std::string& message) {
    check_refused(run_saccade(typed.path, words), message);
  };
  check({"data"}, "what is required");
  check({"data", "mnits"}, "unknown digit set 'mnits'; allowed: mnist, ");
  check({"data", "synthetic"}, "unknown digit set 'synthetic'; allowed: mnist, ");
  check({"data", "mnist", "svhn"}, "'svhn': allowed after the name of a digit set: nothing");
  check({"data", "mnist", "--mirror", "mirror.example"}, "--mirror mirror.example: allowed: ");
  check({"data", "mnist", "--scenes", "3"}, "--scenes: has no effect without preview");
  put_bytes(typed.path / "file", "");
  check({"data", "mnist", "--out", "file"}, "file: the folder cannot be made: ");
  check({"data", "preview"}, "config is required: ");
  check({"data", "preview", "none.yaml"}, "--out: needed");
  check({"data", "preview", "none.yaml", "--mirror", "http://a"}, "--mirror: has no effect");
  const TemporaryVariable no_cache("XDG_CACHE_HOME", nullptr), no_home("HOME", nullptr);
  check({"data", "mnist"}, "--out: needed, as neither XDG_CACHE_HOME nor HOME names");
}

}  // namespace
}  // namespace saccade
