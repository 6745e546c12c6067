// Lease: until when a record of `work` is for whoever has read it (schemas/wire.md). With a journal `work` says it; a
// heartbeat renews it, and behind its end the resequencer sends the document to somebody else.
// Invariants: a lease counts as renewed only from the time at which a heartbeat was sent that was acknowledged, and so
// it never ends later here than there, as long as the two clocks differ by less than the margin.
// Thread rule: plain values, one thread; the time is an argument.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "consumers/stage/in_flight.h"
#include "consumers/stage/result.h"
#include "model/ids.h"

namespace reseq::stage {

// What is sent to `commands` so that a lease goes on. Its payload is null.
struct HeartbeatRecord {
  std::optional<std::string> key;
  std::vector<OwnedHeader> headers;
};
[[nodiscard]] HeartbeatRecord heartbeat_of(const std::optional<std::string>& key, std::span<const OwnedHeader> work);

struct Lease {
  UnixMs until;
  Milliseconds length;  // of the whole lease, from one renewal to its end
};

// At most so long before its end work stops: that is for clocks that differ, and for ending what runs.
inline constexpr Milliseconds kStopMarginMax{10'000};

// None: the work has no lease, or what stands there is no date. `written`: the timestamp of the record, 0 = it has
// none. The lease is as long as from there to its end; where that says nothing, as what is left of it now. The clock is
// asked only where there is a lease.
[[nodiscard]] std::optional<Lease> lease_of(std::span<const OwnedHeader> work, UnixMs written,
                                            const std::function<UnixMs()>& now);

// A third of the lease behind its last renewal.
[[nodiscard]] UnixMs beat_at(const Lease& lease);
// Nobody works on it from then on: a sixth of the lease before its end, but at most the margin.
[[nodiscard]] UnixMs stop_at(const Lease& lease);

struct LostLease {
  Ticket ticket;
  Milliseconds left;  // until others may have it; 0 = they may already
};

// The leases of all records that a stage holds. Heartbeats go in rounds: the next one leaves when all of the last one
// are acknowledged.
class Leases {
 public:
  // The token is told when the lease is lost.
  std::stop_token add(const Ticket& ticket, const Lease& lease, HeartbeatRecord heartbeat);
  [[nodiscard]] bool empty() const { return leases_.empty(); }

  // Forgets those that nobody holds any more.
  template <typename Holds>
  void keep_only(const Holds& holds) {
    std::erase_if(leases_, [&](const auto& one) { return !holds(one.first); });
  }

  // The next round: what has to be sent now. Nothing while the last one is under way, or shortly after it failed.
  std::vector<HeartbeatRecord> begin_round(UnixMs now);
  [[nodiscard]] bool round_under_way() const { return !round_.empty(); }
  void round_acknowledged();
  void round_failed(UnixMs now);

  // Those whose time to stop has come: they are forgotten, and their tokens told.
  std::vector<LostLease> take_lost(UnixMs now);

 private:
  struct Held {
    Lease lease;
    HeartbeatRecord heartbeat;
    std::stop_source lost;
  };
  std::map<Ticket, Held> leases_;
  std::vector<Ticket> round_;
  UnixMs round_at_;
  UnixMs not_before_;
};

}  // namespace reseq::stage
