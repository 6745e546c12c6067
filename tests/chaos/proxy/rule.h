// What the proxy can do to the traffic between clients and brokers.
//
// A rule acts on every request or response that its match describes, from add() to remove(). It acts on whole messages
// in the order of their stream, as TCP keeps it: what is held or late keeps everything behind it in the same direction
// of the same connection.
// Thread rule: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tests/chaos/proxy/wire.h"

namespace reseq::chaos {

// All that is given must hold. `*` in a pattern stands for any characters.
struct Match {
  std::optional<int> broker = {};  // its number, from 1
  std::string client = {};         // pattern of the client id: the resequencer's is application.instance
  // Pattern of the transactional id: application.instance.worker. A message that names none has that of the last
  // request of its connection that did.
  std::string transactional_id = {};
  std::vector<Api> apis = {};  // a response is of the kind of its request
};

enum class Way : std::uint8_t { kBoth, kRequests, kResponses };

// Each message arrives later by `by` and up to `jitter` more.
struct Delay {
  std::chrono::milliseconds by;
  std::chrono::milliseconds jitter{0};
};

// Bytes of a message trickle at this rate.
struct Throttle {
  std::uint64_t bytes_per_second;
};

// The connection is reset when such a message comes; the message is lost.
struct Cut {};

// The request is forwarded and done; when its response comes the client's connection is reset instead.
struct LoseReply {};

// Messages vanish without a sign. Both ways: a half-open connection; one way: a one-way partition. The end of a
// connection is not told to the other side either. When the rule is removed, connections that lost something are
// reset: their streams have a hole.
struct Swallow {};

// An event that ends a Hold: the `count`-th response to such a request that came after the held one, from the same
// transactional id (without one: the same client id). The held messages are delivered first, and only when the broker
// has answered them is that response passed on: what follows at the client comes behind them for certain.
struct Trigger {
  Api api = Api::kProduce;
  std::uint64_t count = 1;
};

// Messages are kept, with everything behind them in that stream, and delivered at release(), remove() or the trigger,
// over the connection on which they came, also when the client has closed its side long ago: packets that were late.
// Without a match of kinds it is a network that comes back: nothing is lost, all of it is late.
struct Hold {
  bool cut_client = false;  // the client's side is reset at once, so that it does not have to wait for its time-out
  std::optional<Trigger> until = {};
};

// New connections are reset as soon as they are made. Of the match only the broker counts.
struct Refuse {};

using Action = std::variant<Delay, Throttle, Cut, LoseReply, Swallow, Hold, Refuse>;

using RuleId = std::uint64_t;  // 0 = none

struct Rule {
  Match match = {};
  Way way = Way::kBoth;
  Action action;
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();  // acts at most so often
  double share = 1;                                                 // of the matching messages, by chance
  RuleId after = 0;                                                 // acts only when that rule has acted
};

// What a rule did. Messages; connections for Refuse.
struct RuleCounts {
  std::uint64_t acted = 0;
  std::uint64_t delivered = 0;   // of what was held: written to the broker (or client) later
  std::uint64_t answered = 0;    // of what was delivered: the broker has answered
  std::uint64_t lost = 0;        // of what was held: its broker's connection broke before the answer
  std::int16_t last_error = -1;  // in the last answer to a held EndTxn; 0 = the broker did it
};

// The fault that a transactional producer of before KIP-890 does not survive unless it is recycled: the first EndTxn of
// this transactional id (pattern) is lost to the client, which repeats it on a new connection, and reaches the broker
// in the middle of the next transaction, behind `until`. Both EndTxn are accepted; the late one ends the transaction
// that has just begun: what was written so far is committed, whatever the client does with the rest.
// A producer that was recycled in between (init_transactions raises the epoch) makes it void: last_error is then
// INVALID_PRODUCER_EPOCH (47) or PRODUCER_FENCED (90). tests/chaos_rig/recycle_test.cpp is the recipe for a whole
// program: a second rule `after` this one keeps what comes behind from mending the batch, then kill -9 and start again.
[[nodiscard]] inline Rule hold_commit(std::string transactional_id, Trigger until = {}) {
  return {.match = {.transactional_id = std::move(transactional_id), .apis = {Api::kEndTxn}},
          .way = Way::kRequests,
          .action = Hold{.cut_client = true, .until = until},
          .limit = 1};
}

// EndTxn is done and its client does not get to know it.
[[nodiscard]] inline Rule lose_commit_reply(std::string transactional_id) {
  return {.match = {.transactional_id = std::move(transactional_id), .apis = {Api::kEndTxn}},
          .way = Way::kRequests,
          .action = LoseReply{},
          .limit = 1};
}

}  // namespace reseq::chaos
