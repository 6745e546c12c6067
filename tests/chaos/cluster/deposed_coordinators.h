// DeposedCoordinators: proves from the logs of all brokers that Kafka may have torn a transaction: a coordinator sent
// its markers for a term after another broker had taken over that part of __transaction_state in a higher term.
// Kafka 4.3.1 does so when a broker was killed and starts again with cluster metadata of before: it takes itself for
// the coordinator of the old term, reads its log up to the end, not up to what is replicated, and sends the markers of
// a decision that nobody else knows. Partitions that take them in time are committed, and those that do not are aborted
// by the coordinator of the new term. What both brokers log, shortened:
//   2026-11-23 08:50:39,457 INFO ...: Completed loading transaction metadata from __transaction_state-1 for coordinator
//     epoch 4 (...)
//   2026-11-23 08:50:39,632 INFO ...: Sending txn markers for ...(app.r3.0,0,COMMIT,TransactionMetadata(... after
//     loading partition 1 (...)
// The last line, with its term and partition, is only there for what is found at a load. Brokers of one host have one
// clock.
// Thread rule: none of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace reseq::chaos {

class DeposedCoordinators {
 public:
  // The whole log of one life of a broker; lives and brokers in any order.
  void read(int broker, std::string_view log);
  // One text for each transaction whose markers a deposed coordinator sent.
  [[nodiscard]] std::vector<std::string> proofs() const;

 private:
  struct Term {
    int broker = 0;
    std::string since;  // a time as it stands in the log
    std::int32_t epoch = 0;
  };
  struct Sent {
    int broker = 0;
    std::string at;
    std::string transaction;  // id, term, result
    std::int32_t partition = 0;
    std::int32_t epoch = 0;
  };

  void read_line(int broker, std::string_view line);
  // Nothing: its term was not over.
  [[nodiscard]] const Term* successor_of(const Sent& sent) const;

  std::map<std::int32_t, std::vector<Term>> terms_;  // by partition of __transaction_state
  std::vector<Sent> sent_;
};

}  // namespace reseq::chaos
