// NotifySocket: tells the supervisor that started this process how it is, by systemd's protocol (sd_notify(3)): one
// datagram per message to the socket that the environment names. Without such a socket nothing happens.
// Thread rule: one thread.
#pragma once

#include <optional>
#include <string>

#include "model/ids.h"

namespace reseq::runtime {

class NotifySocket {
 public:
  // What a supervisor puts into the environment; empty: it does not.
  struct Wanted {
    std::string address;        // a path, or @name for an abstract one
    std::string watchdog_usec;  // after so long without a sign of life it ends the process
    std::string watchdog_pid;   // the process that is meant, if not everyone who reads this
  };
  // NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  [[nodiscard]] static Wanted wanted();

  explicit NotifySocket(const Wanted& wanted);
  ~NotifySocket();
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  void ready();
  void stopping();
  // Call often: a sign of life goes out each time that half of what the watchdog allows is over.
  void alive(Milliseconds steady);

 private:
  void open(const std::string& address);
  void send(const std::string& message);

  std::string address_;  // as the kernel has it: a zero byte in front of an abstract name
  int descriptor_ = -1;
  std::optional<Milliseconds> beat_every_;
  std::optional<Milliseconds> beat_at_;
};

}  // namespace reseq::runtime
