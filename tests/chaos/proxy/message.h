// Message: a request or response on its way through the proxy.
// Thread rule: plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/chaos/proxy/rule.h"

namespace reseq::chaos {

using Clock = std::chrono::steady_clock;

// A place in what a rule holds. Turns count its releases: all that was held in a turn goes together.
struct Ticket {
  RuleId rule = 0;  // 0 = not held
  std::uint64_t turn = 0;
};

struct Message {
  std::string bytes;        // the whole frame
  RequestFacts request;     // itself, or what it answers
  std::uint64_t order = 0;  // of the request among all requests that came
  std::size_t sent = 0;
  Clock::time_point due{};    // not before
  std::uint64_t rate = 0;     // bytes per second; 0 = as fast as they go
  Clock::time_point began{};  // when the first byte went
  Ticket held{};              // goes when that is released
  Ticket behind{};            // goes when all that was held there has been answered
  RuleId loses_reply = 0;
};

// Who speaks on a connection, as far as it is known.
struct Origin {
  int broker = 0;
  std::string client_id;
  std::string transactional_id;
};

}  // namespace reseq::chaos
