#include "http/bounded_server.h"

#include <atomic>
#include <functional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "http/connection.h"

namespace reseq::http {

namespace {

// Whether the connection that is handed over on this thread is one too many.
thread_local bool is_too_many = false;

// void in httplib 0.11, bool in 0.18.
using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));

// Hands connections to threads. httplib's own queue has no end, and what it queues can only be called: one too many is
// called at once, to be closed.
class Waiting : public httplib::TaskQueue {
 public:
  Waiting(std::size_t threads, std::size_t waiting_max) : connections_max_(threads + waiting_max), pool_(threads) {}

  Enqueued enqueue(std::function<void()> serve_it) override {
    if (connections_ >= connections_max_) {
      is_too_many = true;
      serve_it();
      is_too_many = false;
      return Enqueued(true);
    }
    ++connections_;
    return pool_.enqueue([this, serve_it = std::move(serve_it)] {
      serve_it();
      --connections_;
    });
  }
  void shutdown() override { pool_.shutdown(); }

 private:
  const std::size_t connections_max_;
  std::atomic<std::size_t> connections_ = 0;  // waiting or served
  httplib::ThreadPool pool_;
};

}  // namespace

BoundedServer::BoundedServer(std::size_t threads, const Limits& limits) : limits_(limits) {
  new_task_queue = [threads, limits] { return new Waiting(threads, limits.waiting); };  // httplib deletes it
}

// httplib 0.18 wants to be told both ends, 0.11 asks the connection.
template <typename Accepted>
void BoundedServer::process(Accepted& connection) {
  bool closed = false;
  if constexpr (requires { process_request(connection, true, closed, nullptr); }) {
    process_request(connection, true, closed, nullptr);
  } else {
    std::string remote;
    std::string local;
    int remote_port = 0;
    int local_port = 0;
    connection.get_remote_ip_and_port(remote, remote_port);
    connection.get_local_ip_and_port(local, local_port);
    process_request(connection, remote, remote_port, local, local_port, true, closed, nullptr);
  }
}

bool BoundedServer::process_and_close_socket(socket_t socket) {
  if (!is_too_many) {
    Connection connection(socket, limits_, [this] { return svr_sock_ == INVALID_SOCKET; });
    process(connection);
    connection.tell_refusal();
  }
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return true;
}

}  // namespace reseq::http
