// Proxy: stands between the clients and each broker of a cluster, whose advertised address it is, and does to their
// traffic what rules say (rule.h). It knows Kafka's protocol without encryption.
// Invariants: one thread does all work on sockets. What a connection may keep is bounded: it stops reading above
// kBufferedMax (held messages count); links above kLinksMax are refused.
// Thread rule: every function may be called from any thread. A rule holds for every message that is read after add()
// has returned.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "tests/chaos/proxy/rule.h"

namespace reseq::chaos {

inline constexpr std::size_t kBufferedMax = std::size_t{8} * 1024 * 1024;  // per direction, and one message more
inline constexpr std::size_t kLinksMax = 2'000;                            // connections at a time

class Proxy {
 public:
  // Listens on one free port for each of `brokers`, the ports where they listen themselves (all on 127.0.0.1). Brokers
  // need not run yet. `seed` draws jitter and shares. Throws when there is no port.
  static std::unique_ptr<Proxy> open(const std::vector<std::uint16_t>& brokers, std::uint64_t seed);
  virtual ~Proxy() = default;  // resets all connections

  // Where clients reach the broker of this number (from 1).
  [[nodiscard]] virtual std::uint16_t port(int broker) const = 0;

  virtual RuleId add(Rule rule) = 0;
  // Heals: what was held is delivered. What the rule did stays known.
  virtual void remove(RuleId rule) = 0;
  // What is held is delivered; the rule goes on with what comes later, up to its limit.
  virtual void release(RuleId rule) = 0;
  // Removes all rules.
  virtual void clear() = 0;
  [[nodiscard]] virtual RuleCounts counts(RuleId rule) const = 0;

  // Resets all connections that match now (kinds do not count). Returns how many.
  virtual std::size_t cut(const Match& match) = 0;

  // Requests forwarded so far, by kind.
  [[nodiscard]] virtual std::map<Api, std::uint64_t> forwarded() const = 0;
  // Open connections, those included that only a late delivery keeps alive.
  [[nodiscard]] virtual std::size_t connections() const = 0;
};

}  // namespace reseq::chaos
