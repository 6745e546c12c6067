// Answers: what the instances replied to one request, put together: one part per partition. Of two instances that
// answer for the same partition the one that took it over last is right.
// Thread rule: plain value.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "admin/document_json.h"

namespace reseq::admin {

class Answers {
 public:
  // Takes one reply in. A refusal of the request as a whole is kept, see refused().
  void add(const Json& reply);

  // By partition; each with the members `instance` and `host`, where the reply has one.
  [[nodiscard]] const std::map<std::int64_t, Json>& partitions() const { return partitions_; }
  // The last one of each instance, by its name.
  [[nodiscard]] const std::map<std::string, Json>& replies() const { return replies_; }
  // Partitions of the application; 0 while nobody has said.
  [[nodiscard]] std::int64_t total() const { return total_; }
  // Somebody that can answer has answered for each partition.
  [[nodiscard]] bool complete() const;
  // The same for a request about documents, which may be about one partition alone.
  [[nodiscard]] bool all_asked() const;
  // Nobody else will answer: those of the partitions asked that have not answered are parked.
  [[nodiscard]] bool rest_is_parked() const;
  // Those that could not answer because they are parked, as "0, 3"; and of one of them, why and what to do first.
  [[nodiscard]] std::string parked() const;
  [[nodiscard]] std::string parked_why() const;
  // All of partitions(), as an array.
  [[nodiscard]] Json parts() const;
  // Partitions that nobody has answered for, or not as it should be (all of them, without `is_fit`), as "1, 3"; "all"
  // while nobody has said how many there are; empty: none is lacking.
  [[nodiscard]] std::string lacking(const std::function<bool(const Json& part)>& is_fit = nullptr) const;
  // Why an instance refused the request as a whole; another one, of a later version perhaps, may answer it.
  [[nodiscard]] const std::optional<std::string>& refused() const { return refused_; }

 private:
  std::map<std::int64_t, Json> partitions_;
  std::map<std::string, Json> replies_;
  std::int64_t total_ = 0;
  std::optional<std::string> refused_;
};

// Partitions whose documents are counted by target; the others are parked, or taken over.
[[nodiscard]] std::int64_t surveyed(const Answers& answers);

// What they tell of each target, of all instances: an array of {"target", "waiting", "overdue", "oldest_waits_since",
// "released", "per_s", "quiet_ms", "released_ms_ago"}; of those, what nobody tells is absent. "quiet_ms": for so long
// at least nothing was released; "released_ms_ago": the last release that the processes of now know.
[[nodiscard]] Json targets_of(const Answers& answers);

// What they tell of the queues, of all partitions: an array of {"priority", "waiting", "processing", "due_since"}, the
// most urgent first; those that nothing waits with are absent.
[[nodiscard]] Json queue_of(const Answers& answers);
// What they tell of what waited, of all instances: as `waits` of one.
[[nodiscard]] Json waits_of(const Answers& answers);
// What they tell of what left lanes, of all instances: as `lanes` of one; null: nobody has such targets.
[[nodiscard]] Json lanes_of(const Answers& answers);

}  // namespace reseq::admin
