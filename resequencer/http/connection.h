// Connection: one that was accepted, bounded. httplib reads a line of any length, any number of headers and waits as
// long as now and then a byte comes; what it reads and writes goes through here, where both bytes and time end.
// Thread rule: one thread; nothing but `stops` may change meanwhile.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <httplib.h>
#include <string>

#include "http/limits.h"

namespace reseq::http {

class Connection : public httplib::Stream {
 public:
  // The time of the request begins. `stops`: whether the server does; looked at several times a second.
  Connection(socket_t socket, const Limits& limits, std::function<bool()> stops);

  [[nodiscard]] bool is_readable() const override;
  [[nodiscard]] bool is_writable() const override;
  // -1: an error, or the request is longer than it may be, or takes longer. 0: its end.
  ssize_t read(char* to, std::size_t size) override;
  // All of it, or -1: the other end does not take it in time, or the request met a bound.
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  [[nodiscard]] socket_t socket() const override { return socket_; }

  // If the request met a bound, answers which.
  void tell_refusal();

 private:
  using Time = std::chrono::steady_clock::time_point;
  [[nodiscard]] bool wait_for(short what, Time until) const;
  [[nodiscard]] bool fill();
  [[nodiscard]] bool send_all(const char* from, std::size_t size);

  socket_t socket_;
  const Limits& limits_;
  std::function<bool()> stops_;
  Time request_until_;
  std::size_t received_ = 0;
  bool line_ended_ = false;  // the line of the request
  std::array<char, 4096> buffer_ = {};
  std::size_t buffered_ = 0;
  std::size_t taken_ = 0;          // of what is buffered
  const char* refusal_ = nullptr;  // status and reason, once a bound is met
};

}  // namespace reseq::http
