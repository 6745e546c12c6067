// Socket: a TCP socket on loopback, never blocking, not inherited by programs that are started.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace reseq::chaos {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // Listens on that port, 0 = on a free one. Throws when it cannot.
  static Socket listener(std::uint16_t port = 0);
  // The connection may still be under way; a refusal shows when it is used. Not open: no descriptor is left.
  static Socket connect(std::uint16_t port);
  // The next waiting connection; not open: none.
  [[nodiscard]] Socket accept() const;

  [[nodiscard]] bool open() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] std::uint16_t port() const;

  enum class Outcome : unsigned char { kMoved, kWait, kEnded };
  struct Moved {
    Outcome outcome = Outcome::kWait;
    std::size_t bytes = 0;
  };
  Moved receive(char* into, std::size_t room);
  Moved send(std::string_view bytes);

  void close();  // in order
  void reset();  // the other side sees "connection reset by peer"

 private:
  int fd_ = -1;
};

}  // namespace reseq::chaos
