// OrderEvidence: what a run with strict and total targets did, from what stands in its topics alone, in the order in
// which it stands there.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "demo/compare/version_order.h"
#include "demo/run/dead_letter.h"
#include "demo/run/outcomes.h"
#include "demo/run/settings.h"
#include "kafka/plain_record.h"

namespace reseq::demo {

using VersionNames = std::set<VersionName>;

class OrderEvidence {
 public:
  // Of each topic all records, in the order of its only partition.
  explicit OrderEvidence(std::string requests_topic) : requests_topic_(std::move(requests_topic)) {}
  void add_request(const kafka::PlainRecord& record);
  void add_command(const kafka::PlainRecord& record);
  void add_event(const kafka::PlainRecord& record);
  void add_dead_letter(const kafka::PlainRecord& record);
  void add_output(const std::string& target, const kafka::PlainRecord& record);

  static Result<OrderEvidence> read(const Settings& settings);

  [[nodiscard]] const std::vector<DocumentVersion>& requests() const { return requests_; }
  // What workers sent for a target, as it came: what a consumer would have without a resequencer.
  [[nodiscard]] const std::vector<DocumentVersion>& results(const std::string& target) { return results_[target]; }
  [[nodiscard]] const std::vector<DocumentVersion>& released(const std::string& target) { return released_[target]; }
  // Outputs whose version is not above that of the output before.
  [[nodiscard]] std::uint64_t versions_that_do_not_rise() const { return falls_; }
  [[nodiscard]] const std::vector<DeadLetter>& dead_letters() const { return dead_letters_; }
  [[nodiscard]] Outcomes& outcomes() { return outcomes_; }

  // What is wrong with the dead letters, in words, when these results were lost, by target: each of them has one of its
  // own, which says where its request is, and nothing else has one.
  [[nodiscard]] std::vector<std::string> problems_of_gaps(const std::map<std::string, VersionNames>& lost) const;
  // Places that were skipped, by target.
  [[nodiscard]] std::map<std::string, std::uint64_t> skipped() const;

 private:
  std::string requests_topic_;
  std::vector<DocumentVersion> requests_;
  std::map<VersionName, std::int64_t> offsets_;  // of the requests
  std::map<std::string, std::vector<DocumentVersion>> results_, released_;
  std::map<std::string, std::uint64_t> last_version_;  // by target
  std::uint64_t falls_ = 0;
  std::vector<DeadLetter> dead_letters_;
  Outcomes outcomes_;
};

}  // namespace reseq::demo
