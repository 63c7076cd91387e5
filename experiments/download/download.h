#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace saccade {

/// A file that is available in several places.
struct Download {
  std::vector<std::string> urls;  // http:// or https://, tried in this order
  std::filesystem::path target;   // in an existing folder
  std::int64_t bytes;             // required size
  std::string sha256;             // required SHA-256
};

/// Receives the progress of a download, on the downloading thread. This base class shows nothing.
class DownloadProgress {
 public:
  virtual ~DownloadProgress() = default;

  virtual void begin(const std::string& /*name*/, std::int64_t /*bytes*/) {}
  /// Called often; must be cheap.
  virtual void update(std::int64_t /*bytes*/) {}
  /// No update of this file follows. `whole`: whether it is complete. `url`: the source of its last
  /// part; "" if the file existed already.
  virtual void end(bool /*whole*/, const std::string& /*url*/) {}
  /// A line for display.
  virtual void note(const std::string& /*text*/) {}
};

/// No place could provide a file: the network or the servers failed.
class DownloadFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws InputError, beginning with `what`, unless the URL is http://... or https://...
void check_url(const std::string& url, const std::string& what);

/// Downloads a file. Until it is complete and its checksum is right it is `target`.part, which a
/// later call resumes if a server supports that, even another server; then it replaces `target`. If
/// a place breaks off, it is asked for the rest as long as data arrives. A place that refuses, has
/// another file, sends more than requested, or sends less than 1000 bytes per second for `stall`
/// seconds is given up for the next one (if it was fast before, it is asked for the rest).
/// Redirects are followed, only to http and https. Proxies are taken from the environment, as by
/// curl.
///
/// Returns whether the file is complete: false if `stop` ended the download, which keeps the part.
/// Throws InputError for an invalid URL, DownloadFailure with a line for each place and its fault,
/// and std::runtime_error if the file cannot be written or another process is downloading it.
bool download(const Download& file, DownloadProgress& progress, const std::atomic<bool>& stop,
              int stall = 30);

}  // namespace saccade
