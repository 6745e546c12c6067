// Tally: what a remote sink has done and how its server is, counted by several threads and read by one that tells it.
// A server that goes away or comes back is logged once, and again every half minute while it is away.
// Thread rule: any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/ids.h"

namespace reseq::remote {

struct Counts {
  std::uint64_t records = 0;    // read and done with, without control records
  std::uint64_t written = 0;    // changed a document
  std::uint64_t not_newer = 0;  // replays and older versions
  std::uint64_t not_for_us = 0;
  std::uint64_t malformed = 0;  // outside the wire contract
  std::uint64_t refused = 0;    // by the server
  std::uint64_t retried = 0;    // writes that went again
  std::uint64_t batches = 0;
  std::uint64_t fenced = 0;   // batches whose position was another one's already
  std::uint64_t dropped = 0;  // batches whose partition was taken away
};

// How the other side is: a server, or the topic of the dead letters.
struct Standing {
  enum class Kind : unsigned char { kUnknown, kGood, kAway, kRefuses };  // kRefuses: somebody has to do something
  Kind kind = Kind::kUnknown;
  std::chrono::system_clock::time_point since{};
  std::string words{};  // of the last trouble
};

[[nodiscard]] std::string_view name_of(Standing::Kind kind);
// It is known to take nothing.
[[nodiscard]] bool is_trouble(Standing::Kind kind);

// What only the reader knows, published now and then.
struct Places {
  std::map<Partition, std::int64_t> lag = {};  // records between what is done and the end, about; control records count
  std::map<Partition, Offset> done = {};       // next offsets behind what is done
  std::uint64_t batches_in_flight = 0;
  std::uint64_t bytes_in_flight = 0;
  std::chrono::milliseconds oldest{0};                // age of the oldest batch that is not done
  bool resting = false;                               // nothing is read, because too much is on its way
  std::chrono::steady_clock::time_point published{};  // by the reader; zero: it has not begun
};

class Tally {
 public:
  void add(const Counts& more);
  void good();
  void trouble(const Error& error);
  void publish(Places places);

  [[nodiscard]] Counts counts() const;
  [[nodiscard]] Standing standing() const;
  [[nodiscard]] Places places() const;

 private:
  mutable std::mutex mutex_;
  Counts counts_;
  Standing standing_;
  Places places_;
  std::chrono::steady_clock::time_point trouble_since_;  // while is_trouble()
  std::chrono::steady_clock::time_point told_;
};

}  // namespace reseq::remote
