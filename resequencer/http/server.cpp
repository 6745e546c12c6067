#include "http/server.h"

#include <atomic>
#include <httplib.h>
#include <sys/socket.h>
#include <thread>

namespace reseq::http {

namespace {

// Two viewers, a scraper and a probe at once are many.
constexpr std::size_t kThreads = 4;
// Of silence on a connection.
constexpr time_t kSocketSeconds = 5;
constexpr int kNotAllowed = 405;

// httplib sets SO_REUSEPORT, with which a second process would get half of the connections instead of an error.
void reuse_address(socket_t socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

}  // namespace

struct Server::Body {
  httplib::Server server;
  std::atomic<bool> ended = false;
  std::thread thread;
};

Server::Server(const std::vector<Path>& paths) : body_(std::make_unique<Body>()) {
  httplib::Server& server = body_->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };  // httplib deletes it
  server.set_socket_options(reuse_address);
  server.set_read_timeout(kSocketSeconds);
  server.set_write_timeout(kSocketSeconds);
  server.set_keep_alive_timeout(1);
  // Before a body is read; ranges of an answer nobody needs.
  server.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
    if (request.method == "GET" && !request.has_header("Range")) return httplib::Server::HandlerResponse::Unhandled;
    response.status = kNotAllowed;
    response.set_header("Connection", "close");
    return httplib::Server::HandlerResponse::Handled;
  });
  for (const auto& [path, answer] : paths)
    server.Get(path, [answer = answer](const httplib::Request& request, httplib::Response& response) {
      const Answer made = answer({.verbose = request.has_param("verbose")});
      response.status = made.status;
      response.set_header("Cache-Control", "no-store");
      response.set_content(made.body, made.content_type);
    });
}

Server::~Server() {
  stop();
}

Result<int> Server::start(const std::string& host, int port) {
  httplib::Server& server = body_->server;
  const bool any = port == 0;
  const int bound = any ? server.bind_to_any_port(host) : server.bind_to_port(host, port) ? port : -1;
  if (bound < 0)
    return Error{ErrorClass::kRetriable, 0,
                 host + ":" + std::to_string(port) + " is taken, or is no address of this host"};
  body_->thread = std::thread([this] {
    body_->server.listen_after_bind();
    body_->ended = true;
  });
  return bound;
}

void Server::stop() {
  if (!body_->thread.joinable()) return;
  // A thread that has only just begun would not hear it.
  while (!body_->server.is_running() && !body_->ended) std::this_thread::yield();
  body_->server.stop();
  body_->thread.join();
}

}  // namespace reseq::http
