#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace saccade {

/// A file that lies in several places.
struct Download {
  std::vector<std::string> urls;  // http:// or https://, tried in this order
  std::filesystem::path target;   // in a folder that is there
  std::int64_t bytes;             // the size it must have
  std::string sha256;             // and its SHA-256
};

/// Told how a download goes, on the thread that downloads. This one shows nothing.
class DownloadProgress {
 public:
  virtual ~DownloadProgress() = default;

  virtual void begin(const std::string& /*name*/, std::int64_t /*bytes*/) {}
  /// Often: cheap.
  virtual void update(std::int64_t /*bytes*/) {}
  /// No update of this file follows. It is there, its last part from `url` ("": it was there), or
  /// it is not.
  virtual void end(bool /*whole*/, const std::string& /*url*/) {}
  /// A line for people.
  virtual void note(const std::string& /*text*/) {}
};

/// Nowhere could a file be had: the network, or those who offer it.
class DownloadFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws InputError unless it is http://... or https://..., with the words `what` in front.
void check_url(const std::string& url, const std::string& what);

/// Downloads a file. Until it is whole and its checksum right it is `target`.part, which a later
/// call goes on with where a server can, also from another one; then it is moved to `target`, over
/// what is there. A place that breaks off is asked for the rest as long as something comes; one
/// that says no, has another file, sends more than was asked for, or for `stall` seconds less than
/// 1000 bytes a second is left for the next (if it was fast before, it is asked for the rest).
/// Redirects are followed, to http and https alone. The environment's proxies are used, as by curl.
///
/// Returns whether it is there: false if `stop` ended it, which keeps the part. Throws InputError
/// for a URL that is none, DownloadFailure with a line for each place and what is wrong there, and
/// std::runtime_error if the file cannot be written or another process is downloading it.
bool download(const Download& file, DownloadProgress& progress, const std::atomic<bool>& stop,
              int stall = 30);

}  // namespace saccade
