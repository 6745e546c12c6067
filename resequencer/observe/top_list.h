// TopList: the names that were counted most, in bounded memory (Metwally, Agrawal, El Abbadi: "Efficient Computation of
// Frequent and Top-k Elements in Data Streams", 2005, "Space-Saving"). Whoever is counted more often than
// total / kEntriesMax is in it. While no more than kEntriesMax names were seen every count is exact; later a newcomer
// takes the place of the smallest and inherits its count as its error, so that a count is never too low.
// Thread rule: plain value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace reseq::observe {

class TopList {
 public:
  static constexpr std::size_t kEntriesMax = 256;
  // Of a name that is kept; what is longer ends with its hash.
  static constexpr std::size_t kNameBytesMax = 200;

  struct Entry {
    std::string name;
    std::uint64_t count = 0;
    std::uint64_t error = 0;  // the true count is at least count - error
  };

  void add(std::string_view name);
  // As it was, REQUIRES: fewer than kEntriesMax entries, names differ.
  void put(const Entry& entry) { entries_[entry.name] = {entry.count, entry.error}; }

  // Highest count first, ties by name; at most `max`.
  [[nodiscard]] std::vector<Entry> highest(std::size_t max) const;

 private:
  struct Counted {
    std::uint64_t count = 0;
    std::uint64_t error = 0;
  };
  std::map<std::string, Counted, std::less<>> entries_;
};

}  // namespace reseq::observe
