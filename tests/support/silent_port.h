// A port of loopback that somebody listens on: the kernel takes connections, and nobody answers, as in front of a
// process that hangs.
// Thread rule: any thread.
#pragma once

#include <string>

namespace reseq::test {

class SilentPort {
 public:
  // Throws when there is none.
  SilentPort();
  ~SilentPort();
  SilentPort(const SilentPort&) = delete;
  SilentPort& operator=(const SilentPort&) = delete;

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // The socket that listens, for who answers after all.
  [[nodiscard]] int handle() const { return handle_; }

 private:
  int handle_;
  int port_ = 0;
};

}  // namespace reseq::test
