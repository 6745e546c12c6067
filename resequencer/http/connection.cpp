#include "http/connection.h"

#include <algorithm>
#include <cerrno>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace reseq::http {

namespace {

constexpr std::chrono::milliseconds kStopLook{250};
constexpr const char* kTimedOut = "408 Request Timeout";
constexpr const char* kLineTooLong = "414 URI Too Long";
constexpr const char* kTooLarge = "431 Request Header Fields Too Large";

using NameOf = int (*)(int, sockaddr*, socklen_t*);

void name_end(NameOf name_of, socket_t socket, std::string& ip, int& port) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  std::array<char, NI_MAXHOST> host = {};
  std::array<char, NI_MAXSERV> service = {};
  if (name_of(socket, any, &size) != 0) return;
  if (::getnameinfo(any, size, host.data(), host.size(), service.data(), service.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return;
  ip = host.data();
  port = std::atoi(service.data());
}

}  // namespace

Connection::Connection(socket_t socket, const Limits& limits, std::function<bool()> stops)
    : socket_(socket),
      limits_(limits),
      stops_(std::move(stops)),
      request_until_(std::chrono::steady_clock::now() + limits.request_time) {}

bool Connection::wait_for(short what, Time until) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0 || stops_()) return false;
    pollfd one{.fd = socket_, .events = what, .revents = 0};
    const int ready = ::poll(&one, 1, static_cast<int>(std::min(left, kStopLook).count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool Connection::is_readable() const {
  pollfd one{.fd = socket_, .events = POLLIN, .revents = 0};
  return taken_ < buffered_ || ::poll(&one, 1, 0) > 0;
}

bool Connection::is_writable() const {
  pollfd one{.fd = socket_, .events = POLLOUT, .revents = 0};
  if (stops_() || ::poll(&one, 1, 0) < 0 || (one.revents & (POLLERR | POLLHUP)) != 0) return false;
  char next = 0;
  const ssize_t got = ::recv(socket_, &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

bool Connection::fill() {
  const std::size_t room = std::min(buffer_.size(), limits_.request_bytes - received_);
  if (room == 0) refusal_ = line_ended_ ? kTooLarge : kLineTooLong;
  if (refusal_ != nullptr) return false;
  for (;;) {
    if (!wait_for(POLLIN, request_until_)) {
      refusal_ = kTimedOut;
      return false;
    }
    const ssize_t got = ::recv(socket_, buffer_.data(), room, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got < 0) return false;
    taken_ = 0;
    buffered_ = static_cast<std::size_t>(got);
    received_ += buffered_;
    line_ended_ =
        line_ended_ || std::find(buffer_.data(), buffer_.data() + buffered_, '\n') != buffer_.data() + buffered_;
    return true;
  }
}

ssize_t Connection::read(char* to, std::size_t size) {
  if (taken_ == buffered_ && !fill()) return -1;
  const std::size_t count = std::min(size, buffered_ - taken_);
  std::copy_n(buffer_.data() + taken_, count, to);
  taken_ += count;
  return static_cast<ssize_t>(count);
}

bool Connection::send_all(const char* from, std::size_t size) {
  const Time until = std::chrono::steady_clock::now() + limits_.answer_time;
  for (std::size_t sent = 0; sent < size;) {
    if (!wait_for(POLLOUT, until)) return false;
    const ssize_t count = ::send(socket_, from + sent, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (count > 0) sent += static_cast<std::size_t>(count);
  }
  return true;
}

// What httplib says to a request that could not be read to its end is not the reason.
ssize_t Connection::write(const char* from, std::size_t size) {
  return refusal_ == nullptr && send_all(from, size) ? static_cast<ssize_t>(size) : -1;
}

void Connection::tell_refusal() {
  if (refusal_ == nullptr) return;
  const std::string text = std::string("HTTP/1.1 ") + refusal_ + "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
  [[maybe_unused]] const bool sent = send_all(text.data(), text.size());  // it is closed in either case
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  name_end(::getpeername, socket_, ip, port);
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  name_end(::getsockname, socket_, ip, port);
}

}  // namespace reseq::http
