// FailureNumbers: what the demo of work that fails did and counted, as the table on the screen and as report.json. Both
// come from here, so they cannot differ.
// Thread rule: plain values, pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "demo/compare/comparison.h"
#include "demo/run/failure_evidence.h"
#include "demo/run/known_faults.h"

namespace reseq::demo {

// A document that is not in a target, or not in its last version, because that failed for good.
struct FailedDocument {
  TargetDocument document;
  std::uint64_t sequence = 0;
  std::uint64_t attempt = 0;
  std::string error;
};

struct FailureNumbers {
  std::string commit;
  std::uint64_t requests = 0;
  std::uint64_t skipped = 0;
  std::uint64_t superseded_before_work = 0;
  double seconds = 0;
  std::uint64_t killed = 0;       // processes of the pipeline
  std::uint64_t stood_still = 0;  // the same
  std::uint64_t leases_lost = 0;
  std::uint64_t retries_max = 0;
  std::map<FailureClass, ClassCounts> classes;
  std::map<std::uint64_t, std::uint64_t> tries;  // how many orders came so often to work for a target
  std::uint64_t most_retries = 0;                // of an order for a target
  OutageCounts down;                             // until it is back
  OutageCounts no_index;                         // until an operator says so
  struct Target {
    std::string name;
    Comparison with;
    std::uint64_t failed = 0;         // of the commit
    std::uint64_t older_version = 0;  // of them: the target holds what was before
  };
  std::vector<Target> targets;
  std::vector<FailedDocument> failed;  // what is failed in the end
  std::uint64_t dead_letters = 0;
  std::uint64_t cleared = 0;          // of them: something newer came
  std::vector<std::string> problems;  // what is not as it has to be
};

// What the topics say against the run, in words; empty = nothing.
[[nodiscard]] std::vector<std::string> problems_of(const FailureEvidence& evidence, const KnownFaults& faults,
                                                   std::uint64_t retries_max);
// What is failed in the end has to be what fails in the commit, with a dead letter, and nothing else may be wrong.
[[nodiscard]] std::vector<std::string> problems_of(const FailureNumbers& numbers,
                                                   const std::set<TargetDocument>& failing,
                                                   const FailureEvidence& evidence);

// Why the run is no proof; empty = all is right, and everything happened that it is about.
[[nodiscard]] std::vector<std::string> failures(const FailureNumbers& numbers);

[[nodiscard]] std::string table_text(const FailureNumbers& numbers);
[[nodiscard]] std::string report_json(const FailureNumbers& numbers, const std::vector<std::string>& failures);

}  // namespace reseq::demo
