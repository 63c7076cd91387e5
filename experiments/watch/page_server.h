#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace saccade {

/// What a path of a page is answered with.
struct PageReply {
  std::string media_type;  // "text/html; charset=utf-8"
  std::string bytes;
};

/// An HTTP server on 127.0.0.1 for the user alone: every address begins with a random token, which
/// only url() says. Without the token it answers 403, with another method than GET 405, and 404 for
/// a path that `answer` has nothing for. Nothing is kept by browsers, and a page may load only what
/// this server gives.
class PageServer {
 public:
  /// Returns what is at a path below the token, "" for the page itself, or nothing. It is decoded,
  /// and may hold any byte but 0. Called by several threads at once; an exception is a reply 500
  /// with its message.
  using Answer = std::function<std::optional<PageReply>(const std::string& path)>;

  /// Begins to serve. Port 0: a free one. Throws InputError with the reason if the port cannot be
  /// listened on.
  PageServer(int port, Answer answer);
  /// Finishes the replies that have begun.
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  /// "http://127.0.0.1:<port>/<token>/"
  const std::string& url() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace saccade
