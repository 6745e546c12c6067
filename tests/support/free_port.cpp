#include "tests/support/free_port.h"

#include <arpa/inet.h>
#include <random>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace reseq::test {
namespace {

bool is_free(std::uint16_t port) {
  const int handle = ::socket(AF_INET, SOCK_STREAM, 0);
  if (handle < 0) throw std::runtime_error("no socket");
  const int again = 1;  // what a server before it has left in TIME_WAIT is no hindrance to the next one
  ::setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const bool bound = ::bind(handle, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(handle);
  return bound;
}

}  // namespace

std::uint16_t free_port() {
  std::random_device random;
  for (int i = 0; i < 100; ++i) {
    const auto port = std::uniform_int_distribution<std::uint16_t>(20'000, 32'000)(random);
    if (is_free(port)) return port;
  }
  throw std::runtime_error("no free port");
}

}  // namespace reseq::test
