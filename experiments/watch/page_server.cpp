#include "experiments/watch/page_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "base/printable.h"
#include "base/system_reason.h"

namespace saccade {
namespace {

constexpr const char* kHost = "127.0.0.1";
constexpr const char* kPlainText = "text/plain; charset=utf-8";

std::string random_token() {
  std::array<std::uint8_t, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("no random numbers: " + system_reason());
  std::string token;
  for (const std::uint8_t byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

// In a time that does not tell how much of the token was right.
bool is_token(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) return false;
  int differing = 0;
  for (std::size_t i = 0; i < token.size(); ++i) differing |= given[i] ^ token[i];
  return differing == 0;
}

void reply_with(httplib::Response& reply, int status, const std::string& text) {
  reply.status = status;
  reply.set_content(text + "\n", kPlainText);
}

}  // namespace

struct PageServer::Parts {
  httplib::Server server;
  Answer answer;
  std::string token = random_token();
  std::string url;
  std::thread thread;

  void set_up();
  int listen_on(int port);
  void serve();
  void handle(const httplib::Request& request, httplib::Response& reply) const;
};

void PageServer::Parts::set_up() {
  // The library would share the port with others (SO_REUSEPORT).
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  // Browsers keep connections open that they may not use; each holds a thread until it times out.
  server.new_task_queue = [] { return new httplib::ThreadPool(64); };
  server.set_keep_alive_max_count(1);
  server.set_read_timeout(std::chrono::seconds(2));
  server.set_write_timeout(std::chrono::seconds(2));
  server.set_default_headers(
      {{"Cache-Control", "no-store"},
       {"X-Content-Type-Options", "nosniff"},
       {"Referrer-Policy", "no-referrer"},
       {"Cross-Origin-Resource-Policy", "same-origin"},
       {"Content-Security-Policy",
        "default-src 'none'; img-src 'self' data:; media-src 'self'; style-src 'unsafe-inline'; "
        "script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"}});
  // Before any reading of a body, and for every path and method.
  server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& reply) {
    handle(request, reply);
    return httplib::Server::HandlerResponse::Handled;
  });
}

void PageServer::Parts::handle(const httplib::Request& request, httplib::Response& reply) const {
  const std::string& path = request.path;
  const std::size_t end = std::min(path.find('/', 1), path.size());
  if (path.empty() || !is_token(std::string_view(path).substr(1, end - 1), token))
    return reply_with(reply, 403,
                      "Forbidden: the address that `saccade watch` printed has a token");
  if (request.method != "GET") {
    reply.set_header("Allow", "GET");
    return reply_with(reply, 405, "Only GET is allowed");
  }
  if (end == path.size()) return reply.set_redirect("/" + token + "/");
  try {
    const std::string below = path.substr(end + 1);
    std::optional<PageReply> found;
    if (below.find('\0') == std::string::npos) found = answer(below);
    if (!found) return reply_with(reply, 404, "Not found");
    // The library sets the status: 206 for a part that was asked for, as players of films do.
    reply.set_content(found->bytes, found->media_type);
  } catch (const std::exception& error) {
    reply_with(reply, 500, printable(abridged_message(error.what())));
  }
}

// Returns the port.
int PageServer::Parts::listen_on(int port) {
  errno = 0;
  const int bound = port == 0                          ? server.bind_to_any_port(kHost)
                    : server.bind_to_port(kHost, port) ? port
                                                       : -1;
  if (bound > 0) return bound;
  const std::string reason = errno != 0 ? system_reason() : "it is refused";
  throw InputError(fmt::format(
      "--port {}: cannot be listened on: {}; allowed: a free port, or 0 for any that is free", port,
      reason));
}

void PageServer::Parts::serve() {
  thread = std::thread([this] { server.listen_after_bind(); });
  // stop() has an effect only from then on.
  while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

PageServer::PageServer(int port, Answer answer) : parts_(std::make_unique<Parts>()) {
  parts_->answer = std::move(answer);
  parts_->set_up();
  parts_->url = fmt::format("http://{}:{}/{}/", kHost, parts_->listen_on(port), parts_->token);
  parts_->serve();
}

PageServer::~PageServer() {
  parts_->server.stop();
  parts_->thread.join();
}

const std::string& PageServer::url() const { return parts_->url; }

}  // namespace saccade
