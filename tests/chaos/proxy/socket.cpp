#include "tests/chaos/proxy/socket.h"

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace reseq::chaos {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// The interface of sockets wants it so.
const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Socket make() {
  return Socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void send_at_once(int fd) {
  const int on = 1;
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Socket::Moved moved(ssize_t result) {
  if (result > 0) return {Socket::Outcome::kMoved, static_cast<std::size_t>(result)};
  const bool later = result < 0 && (errno == EAGAIN || errno == EINTR || errno == EINPROGRESS || errno == ENOTCONN);
  return {later ? Socket::Outcome::kWait : Socket::Outcome::kEnded, 0};
}

}  // namespace

Socket Socket::listener(std::uint16_t port) {
  Socket made = make();
  const sockaddr_in address = loopback(port);
  if (!made.open() || ::bind(made.fd_, generic(address), sizeof address) != 0 || ::listen(made.fd_, SOMAXCONN) != 0)
    throw std::runtime_error("cannot listen on port " + std::to_string(port));
  return made;
}

Socket Socket::connect(std::uint16_t port) {
  Socket made = make();
  if (!made.open()) return made;
  send_at_once(made.fd_);
  const sockaddr_in address = loopback(port);
  if (::connect(made.fd_, generic(address), sizeof address) != 0 && errno != EINPROGRESS) made.close();
  return made;
}

Socket Socket::accept() const {
  Socket made(::accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (made.open()) send_at_once(made.fd_);
  return made;
}

std::uint16_t Socket::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.sin_port);
}

Socket::Moved Socket::receive(char* into, std::size_t room) {
  return moved(::recv(fd_, into, room, 0));
}

Socket::Moved Socket::send(std::string_view bytes) {
  return moved(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

void Socket::close() {
  if (fd_ >= 0) (void)::close(std::exchange(fd_, -1));
}

void Socket::reset() {
  if (fd_ < 0) return;
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  (void)::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

}  // namespace reseq::chaos
