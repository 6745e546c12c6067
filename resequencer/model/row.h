// Row: all that is known of one document (DESIGN 5, 7). The changelog record of a document is its row, encoded.
// Thread rule: plain values.
#pragma once

#include <boost/container/small_vector.hpp>
#include <optional>
#include <string>

#include "model/ids.h"
#include "model/order.h"
#include "model/target.h"

namespace reseq {

// What is known of the targets at one order. Invariants: the three sets are disjoint and not all empty; a target is
// pending or removed only in the group of newest(t); in an older group it can only be served ("last release of t").
struct Group {
  Order order;
  bool requested = false;  // a request with this order was seen (not only REGISTER commands)
  TargetSet pending;
  TargetSet served;
  TargetSet removed;

  [[nodiscard]] TargetSet known() const { return pending | served | removed; }
  friend bool operator==(const Group&, const Group&) = default;
};

// Since when some targets wait for a release: time of the first registration after their last one (starvation).
struct Since {
  TargetSet targets;
  UnixMs first_registered;
  friend bool operator==(const Since&, const Since&) = default;
};

// The newest order that came as a request: tells a repeated request from two edits under one sequence (R5).
struct Requested {
  Order order;
  Offset position;  // of that request in `requests`
  PayloadHash hash;
  TargetSet forwarded;  // its reseq-targets on `work`, as last sent: a copied list must not unregister everything
  friend bool operator==(const Requested&, const Requested&) = default;
};

struct Row {
  Row();
  std::optional<Order> barrier;                     // of the last delete that was meant for all targets
  boost::container::small_vector<Group, 2> groups;  // newest order first, orders strictly falling
  boost::container::small_vector<Since, 1> since;   // sets disjoint
  Version last_version;                             // of the last release, 0 = none
  UnixMs deadline;  // live row: overdue from then on (0 = no timeout); watermark: kept until then (0 = for ever)
  bool overdue = false;
  std::optional<Requested> requested;
  std::string extensions;  // optional ones that this version does not know, kept as they came

  [[nodiscard]] TargetSet pending() const {
    TargetSet all;
    for (const Group& group : groups) all |= group.pending;
    return all;
  }
  [[nodiscard]] TargetSet known() const {
    TargetSet all;
    for (const Group& group : groups) all |= group.known();
    return all;
  }
  // No target is pending: the row is a watermark that stops old results.
  [[nodiscard]] bool completed() const { return pending().empty(); }

  friend bool operator==(const Row&, const Row&) = default;
};

// Not in the class: a row that is made with () would have all of its bytes zeroed before its members are made.
inline Row::Row() = default;

}  // namespace reseq
