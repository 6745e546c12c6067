// Transactions: the transaction coordinator, for clients without KIP-890 part 2: an id keeps its epoch from one
// transaction to the next, so a late EndTxn of an earlier one ends whatever is open under the same epoch.
//
//   kEmpty --add--> kOngoing --end--> kEnding --all markers landed--> kEmpty (the outcome is remembered)
//   init or the sweep on kOngoing: epoch + 1, then ends as aborted
//
// Thread rule: one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/kafka/draw.h"
#include "tests/simulation/kafka/log.h"

namespace reseq::simulation {

// A partition of a topic of the brokers.
struct Place {
  std::size_t topic = 0;
  Partition partition;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct ProducerIdentity {
  ProducerId id = kNoProducer;
  std::int32_t epoch = -1;
};

enum class TransactionAnswer : std::uint8_t {
  kGood,
  kConcurrent,    // markers of the one before are still on their way: ask again
  kFenced,        // a newer epoch exists
  kInvalidState,  // there is no such transaction, or it ended the other way
};

// A marker that is written now: into a log, or (no place) into the offsets of the group.
struct Marker {
  std::optional<Place> place;
  ProducerId producer;
  Fate fate = Fate::kAborted;
};

class Transactions {
 public:
  // Ends what is open under this id. kGood: `identity` is what the instance may use from now on.
  TransactionAnswer init(const std::string& id, Milliseconds timeout, ProducerIdentity& identity);
  TransactionAnswer add(ProducerIdentity who, Place place, UnixMs now);
  TransactionAnswer add_offsets(ProducerIdentity who, UnixMs now);
  // May records of `who` be appended to `place`: it was added to the transaction that is open.
  [[nodiscard]] TransactionAnswer verify(ProducerIdentity who, Place place) const;
  TransactionAnswer end(ProducerIdentity who, Fate fate);

  // Some of the markers that are on their way, each with `per_mille` chance.
  std::vector<Marker> land(Draw& draw, std::uint32_t per_mille);
  // Aborts and fences what has been open longer than its time limit. Returns how many.
  std::size_t sweep(UnixMs now);

  [[nodiscard]] bool quiet() const;  // nothing is open, no marker is on its way
  [[nodiscard]] std::size_t ongoing() const;

 private:
  enum class Phase : std::uint8_t { kEmpty, kOngoing, kEnding };
  struct State {
    std::string id;
    ProducerIdentity producer;
    Milliseconds timeout;
    Phase phase = Phase::kEmpty;
    Fate outcome = Fate::kOpen;  // of the last one that ended
    UnixMs started;
    std::vector<std::optional<Place>> places;  // without a marker yet; none = the offsets of the group
  };

  State* find(ProducerId id);
  [[nodiscard]] const State* find(ProducerId id) const;
  TransactionAnswer open(ProducerIdentity who, std::optional<Place> place, UnixMs now);

  std::vector<State> states_;
};

}  // namespace reseq::simulation
