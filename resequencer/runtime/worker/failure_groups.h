// FailureGroups: documents of which work failed, by what was said last. Workers may say anything, so groups, texts and
// examples are bounded: what has no place is counted with the others.
// Invariants: at most kGroupsMax groups, each with kTextBytes of text and kExamplesMax ids of kIdBytes.
// Thread rule: plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/ids.h"
#include "model/row.h"

namespace reseq::runtime {

struct FailureCounts {
  std::uint64_t failed = 0;    // for good
  std::uint64_t retrying = 0;  // tried again
  FailureCounts& operator+=(const FailureCounts& other) {
    failed += other.failed;
    retrying += other.retrying;
    return *this;
  }
  [[nodiscard]] std::uint64_t all() const { return failed + retrying; }
  friend bool operator==(const FailureCounts&, const FailureCounts&) = default;
};

struct FailureGroup {
  std::string error;                  // its first bytes; empty: nothing was said
  FailureCounts documents;            // with this error
  UnixMs last;                        // when it was said last
  std::vector<std::string> examples;  // ids
};

class FailureGroups {
 public:
  static constexpr std::size_t kGroupsMax = 32;
  static constexpr std::size_t kTextBytes = 200;
  static constexpr std::size_t kExamplesMax = 3;
  static constexpr std::size_t kIdBytes = 256;

  // A document of which something failed, or nothing. It counts once in each group that it belongs to.
  void note(std::string_view id, const Row& row);
  // What another partition has found.
  void add(const FailureGroups& other);

  // Documents, each once, whatever they failed of.
  [[nodiscard]] const FailureCounts& documents() const { return documents_; }
  // The largest groups, largest first.
  [[nodiscard]] std::vector<FailureGroup> largest(std::size_t groups_max) const;
  // Of groups that had no place. When there are any, numbers of small groups are lower than they should be.
  [[nodiscard]] const FailureCounts& others() const { return others_; }

 private:
  FailureGroup* group_of(std::string_view error, std::uint64_t documents);

  std::vector<FailureGroup> groups_;
  FailureCounts documents_;
  FailureCounts others_;
};

}  // namespace reseq::runtime
