// FailureEvidence: what became of work that failed, from what stands in the topics of a run alone. What the resequencer
// says of itself elsewhere is not asked.
// Thread rule: one thread.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "demo/run/dead_letter.h"
#include "demo/run/outcomes.h"
#include "demo/run/settings.h"
#include "kafka/plain_record.h"

namespace reseq::demo {

// What a worker says: kind and scope. A universal failure of unknown kind may pass.
enum class FailureClass : unsigned char {
  kTransient,
  kPermanent,
  kUnknown,
  kUniversalTransient,
  kUniversalPermanent,
};

struct ClassCounts {
  std::uint64_t said = 0;
  std::uint64_t tried_again = 0;  // F5
  std::uint64_t waited = 0;       // F3
  std::uint64_t given_up = 0;     // F4
  std::uint64_t not_counted = 0;  // of an attempt that was over, or of an order that nobody waits for
  std::set<std::string> documents;
};

// An order of a document for a target.
struct TargetOrder {
  std::string target;
  std::string id;
  std::uint64_t sequence = 0;
  friend auto operator<=>(const TargetOrder&, const TargetOrder&) = default;
};

struct Life {
  std::uint64_t tries = 0;        // how often it came to `work`
  std::uint64_t tried_again = 0;  // F5
  std::uint64_t waited = 0;       // F3
  std::uint64_t leases_lost = 0;
  bool released = false;
};

// A target that is down in a partition, from the event that says so to that which ends it. Milliseconds since 1970.
struct Down {
  std::string target;
  std::int32_t partition = 0;
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;  // 0: it never ended
};

// All that happened in the partitions in which a target was down, while it was.
struct OutageCounts {
  double seconds = 0;  // from the first partition to the last one
  std::uint64_t partitions = 0;
  std::uint64_t tried = 0;            // orders that came to work for it
  std::uint64_t waited = 0;           // orders that failed and waited, or went to the others alone
  std::uint64_t released_later = 0;   // of them
  std::uint64_t given_up = 0;         // of them, for another reason
  std::uint64_t superseded = 0;       // of them, by a newer request
  std::uint64_t lost = 0;             // of them: none of these
  std::uint64_t released = 0;         // for it: what was under way before
  std::uint64_t released_others = 0;  // for other targets
};

class FailureEvidence {
 public:
  // Of each topic all records, in any order; then finish().
  explicit FailureEvidence(std::string requests_topic) : requests_topic_(std::move(requests_topic)) {}
  void add_request(const kafka::PlainRecord& record);
  void add_work(const kafka::PlainRecord& record);
  void add_command(const kafka::PlainRecord& record);
  void add_event(const kafka::PlainRecord& record);
  void add_dead_letter(const kafka::PlainRecord& record);
  void add_output(const std::string& target, const kafka::PlainRecord& record);
  void finish();

  static Result<FailureEvidence> read(const Settings& settings);

  [[nodiscard]] const std::map<FailureClass, ClassCounts>& classes() const { return classes_; }
  [[nodiscard]] const std::map<TargetOrder, Life>& lives() const { return lives_; }
  [[nodiscard]] const std::vector<DeadLetter>& dead_letters() const { return dead_letters_; }
  [[nodiscard]] const std::vector<Down>& downs() const { return downs_; }
  [[nodiscard]] std::uint64_t requests() const { return requests_; }
  [[nodiscard]] const Outcomes& outcomes() const { return outcomes_; }
  // Universal failures that cost a retry although their target was known to be down.
  [[nodiscard]] std::uint64_t retries_lost_while_down() const { return retries_lost_while_down_; }
  // Of what was in [from_ms, to_ms).
  [[nodiscard]] OutageCounts outage(std::int64_t from_ms, std::int64_t to_ms) const;

 private:
  using Place = std::pair<std::int32_t, std::int64_t>;  // partition, offset
  struct Event {
    std::int64_t ms = 0;
    Place place;
    std::string kind{}, row{}, operation{}, outcome{}, id{}, target{};
    std::vector<std::string> targets{};
    std::uint64_t sequence = 0;
    Place source{-1, -1};
  };
  struct Sent {  // to work
    std::int64_t ms = 0;
    std::string id;
    std::uint64_t sequence = 0;
    std::vector<std::string> targets;
    bool first = false;  // attempt
  };
  struct Released {
    std::int64_t ms = 0;
    std::int32_t partition = 0;
    std::string target;
  };
  struct Said {
    FailureClass what;
    std::string target, id;
  };
  void take(const Event& event);
  void take_failure(const Event& event);
  void end_down(std::int32_t partition, std::int64_t ms);
  // Of the input partition that it is about.
  [[nodiscard]] std::int32_t partition_of(const Event& event) const;
  // Parts of outage(): of one partition, and of what waited.
  void count_during(const Down& down, OutageCounts& counts, std::set<TargetOrder>& waited) const;
  void count_end(const TargetOrder& order, OutageCounts& counts) const;
  [[nodiscard]] bool is_down(std::int32_t partition, const std::string& target) const;

  std::string requests_topic_;
  std::uint64_t requests_ = 0;
  std::map<std::string, std::int32_t> partitions_;  // of documents
  std::map<std::string, std::uint64_t> newest_;     // request of documents
  std::map<Place, Said> said_;
  std::vector<Event> events_;
  std::vector<Sent> work_;
  std::vector<Released> released_;
  std::map<FailureClass, ClassCounts> classes_;
  std::map<TargetOrder, Life> lives_;
  std::vector<DeadLetter> dead_letters_;
  std::vector<Down> downs_;
  Outcomes outcomes_;
  std::uint64_t retries_lost_while_down_ = 0;
};

}  // namespace reseq::demo
