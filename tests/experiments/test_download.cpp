#include "experiments/download/download.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>

#include "base/error.h"
#include "experiments/download/checksum.h"
#include "tests/experiments/http_server.h"
#include "tests/experiments/support.h"
#include "tests/special_files.h"

namespace saccade {
namespace {

using Reply = HttpServer::Reply;
using Request = HttpServer::Request;

// 100,000 bytes with a long period.
std::string some_bytes() {
  std::string bytes;
  for (std::uint32_t i = 0; i < 100'000; ++i)
    bytes += static_cast<char>((i * i * 2654435761U) >> 24);
  return bytes;
}

/// A file to be downloaded into an empty folder, and the reply of a well-behaved server.
struct Wanted {
  explicit Wanted(const std::string& bytes_ = some_bytes()) : bytes(bytes_) {
    put_bytes(folder.path / "published", bytes);
    file = {.urls = {},
            .target = folder.path / "file",
            .bytes = static_cast<std::int64_t>(bytes.size()),
            .sha256 = sha256_of(folder.path / "published")};
    fs::remove(folder.path / "published");
  }

  bool get(Names urls, int stall = 30) {
    file.urls = std::move(urls);
    DownloadProgress none;
    return download(file, none, stop, stall);
  }
  std::string fault(const Names& urls, int stall = 30) {
    return message_of<DownloadFailure>([&] { get(urls, stall); });
  }
  void check_gets(const Names& urls, int stall = 30) {
    CHECK(get(urls, stall));
    check_there();
  }
  fs::path part() const { return folder.path / "file.part"; }
  void check_there() const {
    CHECK(bytes_of(file.target) == bytes);
    CHECK_FALSE(fs::exists(part()));
  }
  void check_nothing() const { CHECK(fs::is_empty(folder.path)); }

  TemporaryVariable no_proxy{"no_proxy", "127.0.0.1"};
  TemporaryFolder folder;
  std::string bytes;
  Download file;
  std::atomic<bool> stop{false};
};

HttpServer good(const Wanted& wanted) {
  return HttpServer(
      [&](const Request& request) { return HttpServer::file(request, wanted.bytes); });
}

TEST_CASE("the SHA-256 of a file agrees with FIPS 180-4") {
  const TemporaryFolder folder;
  put_bytes(folder.path / "abc", "abc");
  CHECK(sha256_of(folder.path / "abc") ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  put_bytes(folder.path / "none", "");
  CHECK(sha256_of(folder.path / "none") ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(contains(message_of<std::runtime_error>([&] { sha256_of(folder.path / "gone"); }),
                 "gone: cannot be read"));
}

TEST_CASE("a file is downloaded and its progress reported") {
  struct Heard final : DownloadProgress {
    void begin(const std::string& name, std::int64_t bytes) override {
      CHECK(name == "file");
      CHECK(bytes == 100'000);
    }
    void update(std::int64_t bytes) override {
      CHECK(bytes > last);
      last = bytes;
    }
    void end(bool whole, const std::string& url) override {
      CHECK(whole);
      from = url;
    }
    std::int64_t last = 0;
    std::string from;
  };
  Wanted wanted;
  const HttpServer server = good(wanted);
  Heard heard;
  wanted.file.urls = {server.url("/file")};
  CHECK(download(wanted.file, heard, wanted.stop));
  wanted.check_there();
  CHECK(heard.last == 100'000);
  CHECK(heard.from == server.url("/file"));
  CHECK(server.requests() == Names{"/file"});
}

TEST_CASE("an interrupted download is resumed from the same place") {
  Wanted wanted;
  HttpServer server([&](const Request& request) {
    Reply reply = HttpServer::file(request, wanted.bytes);
    if (request.range_begin.value_or(0) < 60'000) reply.breaks_off = 30'000;
    return reply;
  });
  wanted.check_gets({server.url("/file")});
  CHECK(server.requests() == Names{"/file", "/file from 30000", "/file from 60000"});
}

TEST_CASE("a part left by an earlier call is resumed") {
  Wanted wanted;
  put_bytes(wanted.part(), wanted.bytes.substr(0, 700));
  const HttpServer server = good(wanted);
  wanted.check_gets({server.url("/file")});
  CHECK(server.requests() == Names{"/file from 700"});
}

TEST_CASE("a complete part is not requested again, a wrong or overlong one starts anew") {
  Wanted wanted;
  const HttpServer server = good(wanted);
  put_bytes(wanted.part(), wanted.bytes);
  wanted.check_gets({server.url("/file")});
  CHECK(server.requests().empty());

  for (const std::string& wrong : {std::string(100'000, 'x'), wanted.bytes + "x"}) {
    fs::remove(wanted.file.target);
    put_bytes(wanted.part(), wrong);
    wanted.check_gets({server.url("/again")});
    CHECK(server.requests().back() == "/again");
  }
  // The rest of the file only fits the right beginning.
  fs::remove(wanted.file.target);
  put_bytes(wanted.part(), std::string(500, 'x'));
  wanted.check_gets({server.url("/file")});
  const Names requests = server.requests();
  REQUIRE(requests.size() >= 2);
  CHECK(Names(requests.end() - 2, requests.end()) == Names{"/file from 500", "/file"});
}

TEST_CASE("a server that cannot send a range sends the whole file") {
  Wanted wanted;
  HttpServer server([&](const Request&) { return Reply{.body = wanted.bytes}; });
  put_bytes(wanted.part(), wanted.bytes.substr(0, 700));
  wanted.check_gets({server.url("/file")});
  CHECK(server.requests() == Names{"/file from 700", "/file"});
}

TEST_CASE("a wrong length from a server is detected") {
  Wanted wanted;
  const HttpServer honest = good(wanted);
  SUBCASE("it says more than it sends") {
    HttpServer server([&](const Request& request) {
      Reply reply = HttpServer::file(request, wanted.bytes.substr(0, 40'000));
      if (!request.range_begin) reply.length = wanted.bytes.size();
      return reply;
    });
    wanted.check_gets({server.url("/file"), honest.url("/file")});
  }
  SUBCASE("it says less than it sends") {
    HttpServer server([&](const Request&) { return Reply{.body = wanted.bytes, .length = 10}; });
    CHECK(contains(wanted.fault({server.url("/file")}), "another file: 10 bytes, not 100000"));
    wanted.check_nothing();
    wanted.check_gets({server.url("/file"), honest.url("/file")});
  }
  SUBCASE("it sends more than the file has") {
    HttpServer server([&](const Request&) { return Reply{.body = wanted.bytes + "more"}; });
    CHECK(contains(wanted.fault({server.url("/file")}), "more than the 100000 bytes"));
    wanted.check_nothing();
  }
}

TEST_CASE("wrong contents are discarded and the next place is asked") {
  Wanted wanted;
  std::string other = wanted.bytes;
  other[77] ^= 1;
  HttpServer server([&](const Request& request) { return HttpServer::file(request, other); });
  CHECK(contains(wanted.fault({server.url("/file")}),
                 server.url("/file") + ": another file: its SHA-256 is "));
  wanted.check_nothing();
  const HttpServer honest = good(wanted);
  wanted.check_gets({server.url("/file"), honest.url("/file")});
}

TEST_CASE("redirects are followed, but only to http and https") {
  Wanted wanted;
  HttpServer server([&](const Request& request) -> Reply {
    if (request.path == "/old") return {.status = 302, .headers = {"Location: /new"}};
    if (request.path == "/away")
      return {.status = 301, .headers = {"Location: file:///etc/passwd"}};
    if (request.path == "/circle") return {.status = 307, .headers = {"Location: /circle"}};
    return HttpServer::file(request, wanted.bytes);
  });
  wanted.check_gets({server.url("/old")});
  CHECK(server.requests() == Names{"/old", "/new"});
  fs::remove(wanted.file.target);
  CHECK(contains(wanted.fault({server.url("/away")}), "Protocol \"file\" not supported"));
  CHECK(contains(wanted.fault({server.url("/circle")}), "redirects"));
  wanted.check_nothing();
}

TEST_CASE("if a place lacks the file, the next one continues the part") {
  Wanted wanted;
  HttpServer missing([](const Request&) { return Reply{.status = 404, .body = "nothing here"}; });
  HttpServer broken([&](const Request& request) {
    Reply reply = HttpServer::file(request, wanted.bytes);
    reply.breaks_off = request.range_begin ? 0 : 5'000;
    return reply;
  });
  const HttpServer server = good(wanted);
  wanted.check_gets({missing.url("/a"), broken.url("/b"), server.url("/c")});
  CHECK(missing.requests() == Names{"/a"});
  CHECK(server.requests() == Names{"/c from 5000"});

  fs::remove(wanted.file.target);
  const std::string dead = HttpServer::dead_url("/d");
  const std::string fault = wanted.fault({missing.url("/a"), broken.url("/b"), dead});
  check_contains(fault, {"download of file failed:\n  " + missing.url("/a") + ": HTTP status 404\n",
                         "\n  " + broken.url("/b") + ": ", "\n  " + dead + ": Failed to connect"});
  CHECK(fs::file_size(wanted.part()) == 5'000);  // to be resumed
}

TEST_CASE("a server that stops sending is given up") {
  Wanted wanted;
  HttpServer silent([&](const Request& request) {
    Reply reply = HttpServer::file(request, wanted.bytes);
    reply.breaks_off = request.range_begin ? 0 : 2'000;
    reply.holds = true;
    return reply;
  });
  const HttpServer server = good(wanted);
  Names urls(5, server.url("/file"));  // any of them may be slow under load
  urls.insert(urls.begin(), silent.url("/file"));
  wanted.check_gets(urls, /*stall=*/2);
  CHECK(silent.requests() == Names{"/file", "/file from 2000"});
  CHECK(server.requests().front() == "/file from 2000");
}

// No clock is involved: without the rule the download would continue until stopped, after far more
// bytes than arrive within the stall timeout.
TEST_CASE("a server that sends only a few bytes per second is given up") {
  constexpr std::int64_t kFarTooMany = 2'000;  // they would take 100 s
  Wanted wanted;
  HttpServer slow([&](const Request& request) {
    Reply reply = HttpServer::file(request, wanted.bytes);
    reply.breaks_off = 0;
    reply.trickles = true;
    return reply;
  });
  struct Stops final : DownloadProgress {
    explicit Stops(std::atomic<bool>& flag) : stop(flag) {}
    void update(std::int64_t bytes) override { stop = stop || bytes >= kFarTooMany; }
    std::atomic<bool>& stop;
  } stops(wanted.stop);
  wanted.file.urls = {slow.url("/file")};
  const std::string fault =
      message_of<DownloadFailure>([&] { download(wanted.file, stops, wanted.stop, /*stall=*/2); });
  CHECK(fault == "download of file failed:\n  " + slow.url("/file") +
                     ": slower than 1000 bytes a second for 2 s; the same command "
                     "continues the download");
  CHECK_FALSE(wanted.stop);
  CHECK(slow.requests() == Names{"/file"});  // not asked again
  CHECK(fs::file_size(wanted.part()) > 0);
  CHECK(fs::file_size(wanted.part()) < kFarTooMany);
}

TEST_CASE("a download's part file must be a regular file") {
  Wanted wanted;
  const HttpServer server = good(wanted);
  const EmptyPipe pipe(wanted.part());
  CHECK(message_of<InputError>([&] { wanted.get({server.url("/file")}); }) ==
        wanted.part().string() + ": not a regular file");
  CHECK(server.requests().empty());
}

TEST_CASE("a stopped download keeps its part") {
  Wanted wanted;
  HttpServer server([&](const Request& request) {
    Reply reply = HttpServer::file(request, wanted.bytes);
    reply.breaks_off = 3'000;
    reply.holds = true;
    return reply;
  });
  struct Stops final : DownloadProgress {
    explicit Stops(std::atomic<bool>& flag) : stop(flag) {}
    void update(std::int64_t bytes) override { stop = bytes >= 3'000; }
    void end(bool whole, const std::string&) override { CHECK_FALSE(whole); }
    std::atomic<bool>& stop;
  } stops(wanted.stop);
  wanted.file.urls = {server.url("/file"), server.url("/next")};
  CHECK_FALSE(download(wanted.file, stops, wanted.stop));
  CHECK(bytes_of(wanted.part()) == wanted.bytes.substr(0, 3'000));
  CHECK(server.requests() == Names{"/file"});
}

TEST_CASE("an invalid URL is refused") {
  Wanted wanted;
  for (const char* url : {"ftp://host/file", "file:///etc/passwd", "host/file", "", "http://",
                          "https:///file", "http://host/a b"}) {
    CAPTURE(url);
    CHECK(contains(message_of<InputError>([&] { wanted.get({url}); }),
                   "allowed: the URL of a folder, http://... or https://..."));
  }
  wanted.check_nothing();
}

TEST_CASE("two processes cannot download the same part") {
  Wanted wanted;
  const HttpServer server = good(wanted);
  const int held = open(wanted.part().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(flock(held, LOCK_EX) == 0);
  CHECK(message_of<std::runtime_error>([&] { wanted.get({server.url("/file")}); }) ==
        wanted.part().string() + ": another process is downloading it");
  close(held);
  wanted.check_gets({server.url("/file")});

  wanted.file.target = wanted.folder.path / "none" / "file";
  CHECK(contains(message_of<std::runtime_error>([&] { wanted.get({server.url("/file")}); }),
                 "none/file.part: cannot be written: No such file"));
}

}  // namespace
}  // namespace saccade
