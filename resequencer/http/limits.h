// What one client can take from the server. docs/security.md lists it.
#pragma once

#include <chrono>
#include <cstddef>

namespace reseq::http {

struct Limits {
  // Request line, headers and whatever comes behind them. An id of 4096 bytes is 5462 as base64url.
  std::size_t request_bytes = 16 * 1024;
  // Until the request is complete, however its bytes trickle.
  std::chrono::milliseconds request_time{5'000};
  // Until the other end has taken an answer, or one event of a stream.
  std::chrono::milliseconds answer_time{30'000};
  // Connections that wait for a thread. Beyond, one is closed as it comes.
  std::size_t waiting = 32;
};

}  // namespace reseq::http
