// The two tables of this folder as values: cells.txt (what is tried, and what it must end in) and unreachable.txt (what
// is not tried, and why).
// Thread rule: pure functions; plain values.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "kafka/handles.h"

namespace reseq::triage {

enum class Times : std::uint8_t { kOnce, kThree, kAlways };

// What the worker does about errors, from the mildest to the hardest.
enum class Ending : std::uint8_t {
  kGoesOn,    // asked again, nothing else is to be seen
  kRenewed,   // committed, then the producer is replaced because something was in doubt
  kAborted,   // the transaction is aborted and its batch read again
  kRejoined,  // the consumer joins the group anew and takes the partition over again
  kRecycled,  // the producer is replaced and the partition taken over again
  kParked,    // the partition waits for a person
  kEnds,      // the process ends with a message
};
[[nodiscard]] std::string name_of(Ending ending);

struct Cell {
  int line = 0;
  std::string api;  // as the table calls it, with the use: "EndTxn/commit"
  std::string code_name;
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
  Times times = Times::kOnce;
  std::set<Ending> endings;  // any of them: which one depends on how fast this machine is
  [[nodiscard]] std::string name() const;
};

struct Unreachable {
  int line = 0;
  std::set<std::string> apis;
  std::set<std::string> codes;
  std::string reason;
};

// The requests, as the tables call them.
[[nodiscard]] const std::vector<std::string>& apis();
// Every error a broker can answer with that librdkafka 2.0.2 knows by name, TRANSACTION_ABORTABLE for those it does
// not know, and what a client finds out itself: _TRANSPORT (cut off) and _TIMED_OUT (no answer).
[[nodiscard]] const std::set<std::string>& codes();

// Throw std::runtime_error that names the line which does not follow the grammar at the head of the file.
[[nodiscard]] std::vector<Cell> read_cells(const std::string& path);
[[nodiscard]] std::vector<Unreachable> read_unreachable(const std::string& path);

}  // namespace reseq::triage
