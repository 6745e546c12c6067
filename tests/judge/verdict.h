// Verdict: what is wrong, as lines for a person, and how often. Of each check the first few are kept.
// Thread rule: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reseq::judge {

// In the order in which they explain each other: a wrong end says more than the batch that was decided differently.
enum class Check : std::uint8_t {
  kStable,     // a transaction is open, or a log cannot be read to its end
  kVersions,   // versions rise in each partition of each output
  kChangelog,  // the changelog is a sequence of batches
  kTiles,      // every input was decided once, in order, and no owner wrote behind its successor
  kEnd,        // outputs are what producers asked for; the state holds the documents that it should
  kDispatch,   // what the journal sends to work, and how often
  kTimers,     // no timer fired ahead of an input
  kFold,       // the changelog folds to the digest of each meta row
  kReplay,     // each batch decided again gives the same rows
  kProduced,   // what is in work, outputs, dead letters and events is what the batches say, and nothing else
  kOffsets,    // the group committed what the last meta row says
  kCopies,     // each copy on disk is the state at one position of the changelog
  kCount,
};
[[nodiscard]] std::string_view name_of(Check check);

class Verdict {
 public:
  void add(Check check, const std::string& what);

  [[nodiscard]] bool good() const { return count_ == 0; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // In the order of the checks.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Found {
    std::uint64_t count = 0;
    std::vector<std::string> shown;
  };
  std::array<Found, static_cast<std::size_t>(Check::kCount)> found_;
  std::uint64_t count_ = 0;
};

}  // namespace reseq::judge
