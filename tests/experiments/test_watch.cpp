// The page of `saccade watch`, as other programs and people see it.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "experiments/runs/run_failure.h"
#include "experiments/watch/live_charts.h"
#include "experiments/watch/page_server.h"
#include "experiments/watch/watch_page.h"
#include "tests/experiments/browser.h"
#include "tests/experiments/node.h"
#include "tests/experiments/program.h"

namespace saccade {
namespace {

struct HttpReply {
  int status = 0;
  std::string head, body;
};

// Asks a server on this machine, byte by byte as given: no library corrects the path. Returns the
// connection.
int ask(int port, const std::string& path, const std::string& method = "GET",
        const std::string& fields = "") {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  REQUIRE(connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  const std::string request = method + " " + path + " HTTP/1.1\r\nHost: here\r\n" + fields + "\r\n";
  REQUIRE(send(connection, request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size()));
  return connection;
}

HttpReply reply_on(int connection) {
  std::string text;
  char block[4096];
  for (ssize_t count = 0; (count = recv(connection, block, sizeof block, 0)) > 0;)
    text.append(block, static_cast<std::size_t>(count));
  close(connection);
  const std::size_t end = text.find("\r\n\r\n");
  REQUIRE(end != std::string::npos);
  return {std::stoi(text.substr(text.find(' '))), text.substr(0, end), text.substr(end + 4)};
}

HttpReply reply_to(int port, const std::string& path, const std::string& method = "GET",
                   const std::string& fields = "") {
  return reply_on(ask(port, path, method, fields));
}

// The port and the path of "http://127.0.0.1:<port>/<token>/".
std::pair<int, std::string> port_and_path(const std::string& url) {
  const std::string begin = "http://127.0.0.1:";
  REQUIRE(url.starts_with(begin));
  return {std::stoi(url.substr(begin.size())), url.substr(url.find('/', begin.size()))};
}

// `saccade watch` at work.
struct Watching {
  Watching(const fs::path& folder, const CommandWords& words)
      : program(folder, saccade_words(words)), url(program.read_line()) {
    std::tie(port, root) = port_and_path(url);
  }
  HttpReply get(const std::string& below) const { return reply_to(port, root + below); }

  Program program;
  std::string url, root;  // root: "/<token>/"
  int port = 0;
};

// A study: a run that is done, with recordings, one in training, and one that failed.
struct WatchedStudy : TinyExperiment {
  WatchedStudy() {
    train("runs/a/seed-1", {"record.every=64", "record.scenes=1", "record.format=gif"});
    fs::copy(done, training, fs::copy_options::recursive);
    fs::remove(training / "summary.json");
    fs::remove(training / "test.json");
    fs::remove_all(training / "recordings");
    lock = std::make_unique<RunLock>(training, "saccade run");
    fs::create_directories(path / "runs/b/seed-1");
    put_bytes(path / "runs/b/seed-1/config.yaml", bytes_of(done / "config.yaml"));
    keep_failure(RunFolder(path / "runs/b/seed-1"), "<no> luck\nat all");
  }

  fs::path done = path / "runs/a/seed-1", training = path / "runs/a/seed-2";
  std::unique_ptr<RunLock> lock;
};

void add_row(const fs::path& run, int episodes) {
  const std::string text = bytes_of(run / "metrics.csv");
  const Names lines = split(text, '\n');  // the last is empty
  const std::string& last = lines[lines.size() - 2];
  put_bytes(run / "metrics.csv",
            text + std::to_string(episodes) + last.substr(last.find(',')) + "\n");
}

}  // namespace

TEST_CASE("watch shows curves, the last recording and how runs stand, and changes nothing") {
  const WatchedStudy tiny;
  const auto before = contents(tiny.path);
  const Watching watching(tiny.path, {"watch"});  // of runs/
  const HttpReply page = watching.get("");
  CHECK(page.status == 200);
  check_contains(page.head, {"Content-Type: text/html; charset=utf-8", "Cache-Control: no-store",
                             "default-src 'none'", "frame-ancestors 'none'"});
  check_contains(page.body,
                 {"<h1>3 runs: 1 done, 1 running, 1 failed</h1>", "<h2>In training</h2>",
                  "id=\"valid_error\"", "id=\"train_loss\"", "a/seed-2", "&lt;no&gt; luck",
                  fmt::format("process {} on host ", getpid()), "<h2>runs</h2>"});
  // The curves are those of the run in training alone.
  CHECK_FALSE(contains(page.body.substr(0, page.body.find("<h2>Last recording")), "a/seed-1"));
  const std::string source = "src=\"recordings/0/a/seed-1/";
  REQUIRE(contains(page.body, source));
  const std::size_t from = page.body.find(source) + 5;
  const std::string film = page.body.substr(from, page.body.find('"', from) - from);
  const HttpReply shown = watching.get(film);
  CHECK(shown.status == 200);
  CHECK(contains(shown.head, "Content-Type: image/gif"));
  CHECK(shown.body == bytes_of(tiny.done / "recordings/episodes-192.gif"));
  // A player of films asks for parts, and takes them for the whole unless the status says so.
  const HttpReply some =
      reply_to(watching.port, watching.root + film, "GET", "Range: bytes=3-5\r\n");
  CHECK(some.status == 206);
  CHECK(some.body == shown.body.substr(3, 3));
  CHECK(contains(watching.get("watch.js").head, "Content-Type: text/javascript"));
  CHECK(contents(tiny.path) == before);
}

TEST_CASE("watch refuses who has no token, what is no page, and what lies outside") {
  const WatchedStudy tiny;
  const std::string secret = "GIF89a of somebody else";
  put_bytes(tiny.path / "secret.gif", secret);
  fs::create_directory(tiny.path / "films");
  put_bytes(tiny.path / "films/other.gif", secret);
  fs::create_symlink(tiny.path / "secret.gif", tiny.done / "recordings/linked.gif");
  fs::create_directory_symlink(tiny.path / "films", tiny.training / "recordings");
  const Watching watching(tiny.path, {"watch", "runs"});
  for (const std::string path :
       {"/", "/watch.js", "/0123456789abcdef/", "/recordings/0/a/seed-1/episodes-192.gif", "//",
        "/%00", "/?token"}) {
    CAPTURE(path);
    CHECK(reply_to(watching.port, path).status == 403);
  }
  std::string wrong = watching.root;
  wrong[1] = wrong[1] == '0' ? '1' : '0';
  CHECK(reply_to(watching.port, wrong).status == 403);
  CHECK(reply_to(watching.port, watching.root.substr(0, 20) + "/").status == 403);
  CHECK(reply_to(watching.port, watching.root.substr(0, watching.root.size() - 1)).status == 302);
  for (const std::string method : {"POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"}) {
    CAPTURE(method);
    CHECK(reply_to(watching.port, watching.root, method).status == 405);
    CHECK(reply_to(watching.port, "/", method).status == 403);
  }
  const std::string films = "recordings/0/a/seed-1/";
  CHECK(watching.get(films + "episodes-192.gif").status == 200);
  CHECK(watching.get("recordings/0/%61/seed-1/episodes-192.gif").status == 200);
  for (const std::string& path : Names{"none",
                                       "index.html",
                                       "watch.js/",
                                       "/",
                                       "..",
                                       "../",
                                       "../../etc/passwd",
                                       "/etc/passwd",
                                       "%2e%2e/%2e%2e/etc/passwd",
                                       "..%2f..%2fetc%2fpasswd",
                                       "secret.gif",
                                       "../secret.gif",
                                       films,
                                       films + "linked.gif",
                                       films + "../config.yaml",
                                       films + "%2e%2e%2fconfig.yaml",
                                       films + "../../../secret.gif",
                                       films + "..%2f..%2f..%2f..%2fsecret.gif",
                                       films + "episodes-192.gif%00",
                                       films + "episodes-192.gif%0a",
                                       films + "x/../episodes-192.gif",
                                       "recordings/0/a/seed-2/other.gif",
                                       "recordings/1/a/seed-1/episodes-192.gif",
                                       "recordings/0/a/seed-1/config.yaml",
                                       "a/seed-1/config.yaml",
                                       std::string(7000, 'a')}) {
    CAPTURE(path);
    const HttpReply reply = watching.get(path);
    CHECK(reply.status == 404);
    CHECK_FALSE(contains(reply.body, secret));
  }
  CHECK_FALSE(contains(watching.get("").body, films + "linked"));
}

TEST_CASE("a page is served on forty connections at once") {
  constexpr int kConnections = 40;
  std::mutex mutex;
  std::condition_variable changed;
  int waiting = 0;
  bool alone = false;  // an answer waited in vain for the others
  const PageServer server(0, [&](const std::string&) {
    std::unique_lock lock(mutex);
    ++waiting;
    changed.notify_all();
    alone |= !changed.wait_for(lock, std::chrono::minutes(5),
                               [&] { return alone || waiting == kConnections; });
    return std::optional(PageReply{"text/plain", "here"});
  });
  const auto [port, root] = port_and_path(server.url());
  std::vector<int> connections;
  for (int i = 0; i < kConnections; ++i) connections.push_back(ask(port, root));
  for (const int connection : connections) CHECK(reply_on(connection).body == "here");
  CHECK_FALSE(alone);
}

TEST_CASE("watch follows files that grow, new runs and new folders") {
  const WatchedStudy tiny;
  const Watching watching(tiny.path, {"watch", "runs/a"});
  const auto numbers = [&] {
    const std::string page = watching.get("").body;
    const std::size_t from = page.find("<figure id=\"train_loss\"");
    return page.substr(from, page.find("</figure>", from) - from);
  };
  CHECK(contains(numbers(), "<td>192</td>"));
  CHECK_FALSE(contains(numbers(), "<td>208</td>"));
  add_row(tiny.training, 208);
  CHECK(contains(numbers(), "<td>208</td>"));
  fs::copy(tiny.done, tiny.path / "runs/a/seed-3", fs::copy_options::recursive);
  CHECK(contains(watching.get("").body, "<h1>3 runs: 2 done, 1 running</h1>"));
  // Half a row, a broken configuration, and a run that goes away.
  put_bytes(tiny.training / "metrics.csv", bytes_of(tiny.training / "metrics.csv") + "22");
  put_bytes(tiny.path / "runs/a/seed-3/summary.json", "{");
  CHECK(contains(watching.get("").body, "<h1>3 runs: 1 done, 1 running, 1 failed</h1>"));
  fs::remove_all(tiny.path / "runs/a/seed-3");
  CHECK(contains(watching.get("").body, "<h1>2 runs: 1 done, 1 running</h1>"));
}

TEST_CASE("watch ends at a signal, and when its folders are gone") {
  const WatchedStudy tiny;
  for (const int signal : {SIGINT, SIGTERM}) {
    Watching watching(tiny.path, {"watch", "runs"});
    CHECK(watching.get("").status == 200);
    watching.program.send(signal);
    const Program::Result result = watching.program.finish();
    CHECK(result.code == 130);
    CHECK(result.out + result.err == "");
  }
  fs::copy(tiny.done, tiny.path / "other", fs::copy_options::recursive);
  Watching watching(tiny.path, {"watch", "runs/a", "other"});
  fs::remove_all(tiny.path / "other");
  const std::string page = watching.get("").body;
  check_contains(page, {"<h2>other</h2>", "other: no such folder", "runs/a: seed-2"});
  fs::rename(tiny.path / "runs/a", tiny.path / "moved");
  const Program::Result result = watching.program.finish();
  check_done(result);
  CHECK(result.out == "no folder is left to watch\n");
}

TEST_CASE("watch refuses folders without runs and ports that it cannot have") {
  const WatchedStudy tiny;
  const auto check = [&](const CommandWords& words, const std::string& message) {
    check_refused(run_saccade(tiny.path, words), message);
  };
  check({"watch", "none"}, "none: no such folder");
  check({"watch", "data"}, "data: neither a run folder (no config.yaml) nor a study (none below)");
  check({"watch", "runs", "data"}, "data: neither a run folder");
  check({"watch", "--port", "65536"}, "--port: ");
  check({"watch", "--port", "-1"}, "--port: ");
  const Watching first(tiny.path, {"watch"});
  const std::string port = std::to_string(first.port);
  check({"watch", "--port", port}, "--port " + port +
                                       ": cannot be listened on: Address already in use; allowed: "
                                       "a free port, or 0 for any that is free\n");
}

TEST_CASE("live charts hold whatever numbers a file has, and as many points as can be seen") {
  WatchedRun odd{.name = "odd", .status = {}}, longer{.name = "longer", .status = {}},
      empty{.name = "empty", .status = {}};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.5, -kInfinity, std::nan(""), 1e300, 0.25})
    odd.rows.push_back({{Metric("episodes"), 100.0},
                        {Metric("train/error"), value},
                        {Metric("train/loss"), value}});
  odd.rows.push_back({{Metric("episodes"), -1.0}, {Metric("train/error"), 0.5}});
  odd.rows.push_back({{Metric("train/error"), 0.5}});
  for (int i = 1; i <= 10'000; ++i)
    longer.rows.push_back({{Metric("episodes"), 1000.0 * i}, {Metric("train/error"), 0.9}});
  const std::vector<const WatchedRun*> runs = {&empty, &odd, &longer};
  const std::vector<Chart> charts = live_charts(runs);
  REQUIRE(charts.size() == 2);
  CHECK(charts[0].id == "train_error");
  CHECK(charts[0].x.title == "million episodes");
  REQUIRE(charts[0].series.size() == 2);
  CHECK(charts[0].series[0].variant == 1);
  REQUIRE(charts[0].series[0].estimates.size() == 2);
  CHECK(charts[0].series[0].estimates[1].value == 25.0);
  const std::vector<double>& x = charts[0].series[1].x;
  CHECK(x.size() <= 500);
  CHECK(x.back() == 10.0);
  CHECK(std::ranges::is_sorted(x));
  CHECK(contains(charts[0].text, "longer: 90 at 10 million episodes"));
  CHECK(charts[1].id == "train_loss");
  CHECK(live_charts({}).empty());
}

TEST_CASE("the address of a recording holds any name") {
  CHECK(encoded_path("recordings/0/a b/\xc3\xa9#?%.gif") ==
        "recordings/0/a%20b/%C3%A9%23%3F%25.gif");
  TinyExperiment tiny;
  const std::string name = "runs/a=[1, 2] \"&%41?#";
  tiny.train(name, {"record.every=64", "record.scenes=1", "record.format=gif"});
  const Watching watching(tiny.path, {"watch", "runs"});
  const std::string page = watching.get("").body;
  const std::size_t from = page.find("src=\"recordings/") + 5;
  const HttpReply film = watching.get(page.substr(from, page.find('"', from) - from));
  CHECK(film.status == 200);
  CHECK(film.body == bytes_of(tiny.path / name / "recordings/episodes-192.gif"));
}

TEST_CASE("the page of watch follows a run in a browser, and keeps what a person set") {
  const char* name = "the page of watch follows a run in a browser";
  if (skipped_without_node(name) || skipped_without_browser(name)) return;
  const WatchedStudy tiny;
  const Watching watching(tiny.path, {"watch"});
  CommandWords words = {find_browser().value().string(), watching.url, tiny.training.string(),
                        (tiny.path / "profile").string()};
  if (const char* pictures = std::getenv("SACCADE_SCREENSHOTS")) words.push_back(pictures);
  run_node(tiny.path, "watch_browser.mjs", words);
}

}  // namespace saccade
