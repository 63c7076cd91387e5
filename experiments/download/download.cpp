#include "experiments/download/download.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/input_file.h"
#include "experiments/download/checksum.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

/// The partial file beside its target, held by one process.
class Part {
 public:
  explicit Part(const fs::path& target)
      : path_(target.string() + ".part"), file_(path_, O_RDWR | O_CREAT) {
    if (!file_.is_open()) fail("cannot be written");
    if (!is_regular(file_.number())) not_a_regular_file(path_);
    if (file_.lock()) return;
    if (errno == EWOULDBLOCK)
      throw std::runtime_error(path_.string() + ": another process is downloading it");
    fail("cannot be locked");
  }
  ~Part() {
    if (size() == 0) unlink(path_.c_str());
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  const fs::path& path() const { return path_; }
  std::int64_t size() const { return lseek(file_.number(), 0, SEEK_END); }
  void clear() {
    if (ftruncate(file_.number(), 0) != 0) fail("cannot be written");
  }
  bool append(const char* data, std::size_t count) {
    return lseek(file_.number(), 0, SEEK_END) >= 0 && file_.write_all({data, count});
  }
  void move_to(const fs::path& target) {
    if (!file_.sync()) fail("cannot be written");
    fs::rename(path_, target);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(
        fmt::format("{}: {}: {}", path_.string(), what, std::generic_category().message(errno)));
  }

  fs::path path_;
  Descriptor file_;
};

/// State of a transfer for curl's callbacks.
struct Transfer {
  Part& part;
  std::int64_t bytes;  // size of the whole file
  DownloadProgress& progress;
  const std::atomic<bool>& stop;
  bool too_long = false;
  bool disk_full = false;
};

std::size_t receive(const char* data, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::int64_t size = transfer.part.size() + static_cast<std::int64_t>(count);
  transfer.too_long = size > transfer.bytes;
  if (transfer.too_long) return 0;
  transfer.disk_full = !transfer.part.append(data, count);
  if (transfer.disk_full) return 0;
  transfer.progress.update(size);
  return count;
}

int go_on(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const Transfer*>(user)->stop ? 1 : 0;
}

/// While it exists, a closed connection is an error in this thread instead of SIGPIPE, which curl
/// leaves to us with CURLOPT_NOSIGNAL.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

// Bytes per second, averaged over the stall timeout. Slower than any modem.
constexpr long kLeastSpeed = 1000;

using Curl = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

void allow_web_alone(CURL* curl) {
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS, long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS, long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
#endif
}

/// The file with the certificates of the authorities, which each distribution keeps elsewhere: the
/// curl of a wheel knows that of no other. nullptr: where curl looks by itself.
const char* authorities() {
  if (const char* given = std::getenv("SSL_CERT_FILE")) return given;
  for (const char* place :
       {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",  // Debian, Fedora
        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"})                            // SUSE, macOS
    if (access(place, R_OK) == 0) return place;
  return nullptr;
}

Curl make_curl(const std::string& url, Transfer& transfer, char* error, int stall) {
  constexpr long kRedirects = 10, kConnect = 20;
  Curl curl(curl_easy_init(), curl_easy_cleanup);
  if (!curl) throw std::runtime_error("curl cannot be started");
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  allow_web_alone(curl.get());
  if (const char* file = authorities()) curl_easy_setopt(curl.get(), CURLOPT_CAINFO, file);
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_MAXREDIRS, kRedirects);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_USERAGENT, "saccade");
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, kConnect);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, kLeastSpeed);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, long{stall});
  curl_easy_setopt(curl.get(), CURLOPT_RESUME_FROM_LARGE, curl_off_t{transfer.part.size()});
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, go_on);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &transfer);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  return curl;
}

enum class Try {
  whole,       // the part is the complete file
  stopped,     // by the user
  broke_off,   // the part can be resumed
  too_slow,    // likewise
  other_file,  // wrong contents; the part has been emptied
  refused,     // nothing was received
};

struct Outcome {
  Try how;
  std::string why = {};
};

/// Returns whether the part is the complete file; empties it if its size is right but its contents
/// are wrong.
Outcome judge(Part& part, const Download& file) {
  if (part.size() < file.bytes)
    return {Try::broke_off, fmt::format("broke off after {} of {} bytes", part.size(), file.bytes)};
  const std::string found = part.size() > file.bytes ? "" : sha256_of(part.path());
  if (found == file.sha256) return {Try::whole};
  part.clear();
  return {Try::other_file,
          fmt::format("another file: its SHA-256 is {}, not {}", found, file.sha256)};
}

// Returns whether the connection was established.
bool is_connected(CURL* curl) {
  double seconds = 0.0;  // until connected; 0: never
  curl_easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME, &seconds);
  return seconds > 0.0;
}

/// Makes one request to one place for the rest of the part.
Outcome ask(const std::string& url, const Download& file, Transfer& transfer, int stall) {
  constexpr long kNoSuchRange = 416;
  char error[CURL_ERROR_SIZE] = "";
  transfer.too_long = false;
  const Curl curl = make_curl(url, transfer, error, stall);
  const NoPipeSignal quiet;
  const CURLcode code = curl_easy_perform(curl.get());
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (transfer.disk_full)
    throw std::runtime_error(fmt::format("{}: cannot be written: {}", transfer.part.path().string(),
                                         std::generic_category().message(errno)));
  const auto another = [&](const std::string& why) {
    transfer.part.clear();
    return Outcome{Try::other_file, why};
  };
  if (transfer.too_long)
    return another(
        fmt::format("another file: more than the {} bytes of the one that is wanted", file.bytes));
  switch (code) {
    case CURLE_OK:
      if (transfer.part.size() < file.bytes)
        return another(
            fmt::format("another file: {} bytes, not {}", transfer.part.size(), file.bytes));
      return judge(transfer.part, file);
    case CURLE_ABORTED_BY_CALLBACK:
      return {Try::stopped};
    case CURLE_RANGE_ERROR:
      return another("it cannot send the rest of a file");
    case CURLE_HTTP_RETURNED_ERROR:
      if (status == kNoSuchRange) return another("it does not have the rest of the file");
      return {Try::refused, fmt::format("HTTP status {}", status)};
    default:
      if (code == CURLE_OPERATION_TIMEDOUT && is_connected(curl.get()))
        return {Try::too_slow,
                fmt::format("slower than {} bytes a second for {} s; the same command "
                            "continues the download",
                            kLeastSpeed, stall)};
      return {Try::broke_off, *error != '\0' ? error : curl_easy_strerror(code)};
  }
}

/// Retries one place while there is progress: in total at most kTimes stall timeouts longer than
/// the file takes at kLeastSpeed, however a server spaces its bytes.
Outcome try_place(const std::string& url, const Download& file, Transfer& transfer, int stall) {
  constexpr int kTimes = 20;  // allowed interruptions
  Outcome outcome{Try::refused};
  for (int i = 0; i < kTimes; ++i) {
    const std::int64_t before = transfer.part.size();
    outcome = ask(url, file, transfer, stall);
    // Contents from an earlier attempt may have been the wrong part.
    const bool from_anew = outcome.how == Try::other_file && before > 0;
    const std::int64_t came = transfer.part.size() - before;
    const bool goes_on = (outcome.how == Try::broke_off && came > 0) ||
                         (outcome.how == Try::too_slow && came >= kLeastSpeed * stall);
    if (!from_anew && !goes_on) break;
  }
  return outcome;
}

}  // namespace

void check_url(const std::string& url, const std::string& what) {
  for (const std::string scheme : {"http://", "https://"})
    if (url.starts_with(scheme) && url.size() > scheme.size() && url[scheme.size()] != '/' &&
        url.find_first_of(" \t\n") == std::string::npos)
      return;
  throw InputError(
      fmt::format("{} {}: allowed: the URL of a folder, http://... or https://...", what, url));
}

bool download(const Download& file, DownloadProgress& progress, const std::atomic<bool>& stop,
              int stall) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) throw std::runtime_error("curl cannot be started");
  for (const std::string& url : file.urls) check_url(url, "download");
  Part part(file.target);
  Transfer transfer{part, file.bytes, progress, stop};
  progress.begin(file.target.filename().string(), file.bytes);
  Outcome outcome = part.size() > 0 ? judge(part, file) : Outcome{Try::refused};
  std::string faults, from;
  for (std::size_t i = 0; i < file.urls.size() && outcome.how != Try::whole; ++i) {
    from = file.urls[i];
    outcome = try_place(from, file, transfer, stall);
    if (outcome.how == Try::stopped) break;
    if (outcome.how != Try::whole) faults += fmt::format("\n  {}: {}", from, outcome.why);
  }
  progress.end(outcome.how == Try::whole, from);
  if (outcome.how == Try::stopped) return false;
  if (outcome.how != Try::whole)
    throw DownloadFailure(
        fmt::format("download of {} failed:{}", file.target.filename().string(), faults));
  part.move_to(file.target);
  return true;
}

}  // namespace saccade
