#include "tests/support/silent_port.h"

#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace reseq::test {

SilentPort::SilentPort() : handle_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(handle_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(handle_, 16) != 0 ||
      ::getsockname(handle_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no port to listen on");
  port_ = ntohs(address.sin_port);
}

SilentPort::~SilentPort() {
  ::close(handle_);
}

}  // namespace reseq::test
