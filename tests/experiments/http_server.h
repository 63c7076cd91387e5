#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support.h"

namespace saccade {

/// An HTTP/1.1 server on a free local port, which handles one connection after the other, one
/// request each. For tests: its replies, including wrong ones, are given by the test.
class HttpServer {
 public:
  struct Request {
    std::string path;                        // "/folder/file"
    std::optional<std::size_t> range_begin;  // of "Range: bytes=N-"
  };
  struct Reply {
    int status = 200;
    Names headers = {};  // "Name: value"
    std::string body = {};
    std::optional<std::size_t> length = {};      // Content-Length, if not the body's
    std::optional<std::size_t> breaks_off = {};  // closes after this many bytes of the body
    bool holds = false;                          // open until the other end closes
    bool trickles = false;  // then sends a zero now and then until the other end closes
  };
  using Answer = std::function<Reply(const Request&)>;

  explicit HttpServer(Answer answer) : answer_(std::move(answer)) {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(socket_ >= 0);
    sockaddr_in address = loopback(0);
    REQUIRE(bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(socket_, 16) == 0);
    port_ = port_of(socket_);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpServer() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    close(socket_);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url(const std::string& path) const {
    return fmt::format("http://127.0.0.1:{}{}", port_, path);
  }
  /// Requests so far: "/path", or "/path from N".
  Names requests() const {
    const std::lock_guard guard(mutex_);
    return requests_;
  }

  /// The reply of a well-behaved server.
  static Reply file(const Request& request, const std::string& bytes) {
    if (!request.range_begin) return {.body = bytes};
    if (*request.range_begin >= bytes.size()) return {.status = 416};
    return {.status = 206,
            .headers = {fmt::format("Content-Range: bytes {}-{}/{}", *request.range_begin,
                                    bytes.size() - 1, bytes.size())},
            .body = bytes.substr(*request.range_begin)};
  }
  /// A URL without a server.
  static std::string dead_url(const std::string& path) {
    const int held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    REQUIRE(bind(held, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    const int port = port_of(held);
    close(held);
    return fmt::format("http://127.0.0.1:{}{}", port, path);
  }

 private:
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }
  static int port_of(int socket) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    REQUIRE(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    return ntohs(address.sin_port);
  }

  void serve() {
    for (;;) {
      const int connection = accept(socket_, nullptr, nullptr);
      if (connection < 0) return;  // the server is being destroyed
      reply_to(connection);
      close(connection);
    }
  }

  static std::string read_head(int connection) {
    std::string head;
    char letter = 0;
    while (!head.ends_with("\r\n\r\n") && recv(connection, &letter, 1, 0) == 1) head += letter;
    return head;
  }

  void reply_to(int connection) {
    const std::string head = read_head(connection);
    if (head.empty()) return;
    Request request;
    request.path = head.substr(4, head.find(' ', 4) - 4);  // "GET /path HTTP/1.1"
    const std::string range = "Range: bytes=";
    if (const std::size_t at = head.find(range); at != std::string::npos)
      request.range_begin = std::stoul(head.substr(at + range.size()));
    {
      const std::lock_guard guard(mutex_);
      requests_.push_back(request.range_begin
                              ? fmt::format("{} from {}", request.path, *request.range_begin)
                              : request.path);
    }
    const Reply reply = answer_(request);
    std::string text =
        fmt::format("HTTP/1.1 {} Said\r\nConnection: close\r\nContent-Length: {}\r\n", reply.status,
                    reply.length.value_or(reply.body.size()));
    for (const std::string& header : reply.headers) text += header + "\r\n";
    text += "\r\n" + reply.body.substr(0, reply.breaks_off.value_or(reply.body.size()));
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t count = send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
    const char zero = 0;
    while (reply.trickles && send(connection, &zero, 1, MSG_NOSIGNAL) == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // 20 bytes per second or fewer
    char ignored = 0;
    while (reply.holds && recv(connection, &ignored, 1, 0) > 0) continue;
  }

  Answer answer_;
  int socket_ = -1, port_ = 0;
  mutable std::mutex mutex_;
  Names requests_;
  std::thread thread_;
};

}  // namespace saccade
