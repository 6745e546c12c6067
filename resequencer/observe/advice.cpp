// What must or should change before a pipeline goes live, from what was counted.
#include <algorithm>
#include <array>
#include <utility>

#include "observe/report.h"

namespace reseq::observe {

namespace {

constexpr std::uint64_t kAnswersMin = 100;  // fewer say nothing about the slow ones
constexpr double kSlowest = 0.999;
constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;
constexpr std::int64_t kRetentionMinMs = 3'600'000;
constexpr std::int64_t kTimesLatest = 4;   // what has been seen once comes again, and later
constexpr std::uint64_t kWorthInline = 5;  // percent of the results that were superseded
constexpr std::uint64_t kNeverAtRest = 50;

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string of(std::uint64_t part, std::uint64_t all, const char* what) {
  return number(part) + " of " + number(all) + " " + what;
}

std::uint64_t percent(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : part * 100 / all;
}

class Adviser {
 public:
  Adviser(const Seen& seen, const config::Settings& settings) : seen_(seen), t_(seen.tally), s_(settings) {}

  std::vector<Advice> all() {
    look_at_sequences();
    look_at_keys();
    look_at_partitions();
    look_at_requests();
    look_at_results();
    suggest_places();
    suggest_intake();
    suggest_timeout();
    suggest_retention();
    return std::move(all_);
  }

 private:
  void say(const char* level, const char* code, std::string what, std::string why, std::string setting = "",
           std::string value = "") {
    all_.push_back({level, code, std::move(setting), std::move(value), std::move(what), std::move(why)});
  }
  static std::uint64_t count(const CountsOfReasons& counts, Reason reason) {
    return counts[static_cast<std::size_t>(reason)];
  }

  void look_at_sequences() {
    const std::uint64_t in = count(t_.requests_refused, Reason::kMissingSequence);
    const std::uint64_t out = count(t_.results_refused, Reason::kMissingSequence);
    if (in != 0)
      say("must", "sequence_missing_input", of(in, t_.requests, "records of the input have no sequence"),
          "without a number that rises with every change nobody can say which of two results is newer: the producer "
          "has "
          "to send it with every record");
    if (out != 0)
      say("must", "sequence_missing_output", of(out, t_.results, "records of the output have no sequence"),
          "a result has to carry the sequence of the request that it was computed from: the pipeline has to copy it");
    const std::uint64_t malformed =
        count(t_.requests_refused, Reason::kMalformedSequence) + count(t_.results_refused, Reason::kMalformedSequence);
    if (malformed != 0)
      say("must", "sequence_malformed",
          of(malformed, t_.requests + t_.results, "records have a sequence that is not of kind ") + s_.sequence_kind,
          "sequences of one kind are compared; kinds are u64, timestamp, lsn and text", "sequence_kind");
  }

  void look_at_keys() {
    const auto lacking = [&](const CountsOfReasons& counts) {
      return count(counts, Reason::kMissingId) + count(counts, Reason::kEmptyId);
    };
    const std::uint64_t none = lacking(t_.requests_refused) + lacking(t_.results_refused);
    if (none != 0)
      say("must", "id_missing", of(none, t_.requests + t_.results, "records have no document id"),
          "order is kept per document; a record without an id belongs to none");
    const std::array<std::pair<const Routing*, const TopicSeen*>, 2> both = {
        std::pair{&t_.input_routing, &seen_.input}, std::pair{&t_.output_routing, &seen_.output}};
    for (const auto& [routing, topic] : both) {
      if (routing == &t_.input_routing && is_in_header(s_.observe_id)) continue;  // suggest_places
      const std::uint64_t other = routing->with_id - routing->keyed_by_id;
      if (other != 0)
        say("must", "key_missing", of(other, routing->with_id, "records of ") + topic->name + " have another key",
            "the resequencer takes the record's key for the document id, because the key decides the partition");
    }
  }

  void look_at_partitions() {
    if (seen_.input.partitions != seen_.output.partitions)
      say("must", "co_partitioning",
          seen_.input.name + " has " + std::to_string(seen_.input.partitions) + " partitions, " + seen_.output.name +
              " " + std::to_string(seen_.output.partitions),
          "requests and results of a document have to be in partitions of the same number; with the resequencer in "
          "front, requests and commands are topics of their own, which `resequencer init` makes alike");
    const std::uint64_t all = t_.input_routing.with_id + t_.output_routing.with_id;
    const std::uint64_t murmur2 = t_.input_routing.murmur2 + t_.output_routing.murmur2;
    const std::uint64_t crc32 = t_.input_routing.crc32 + t_.output_routing.crc32;
    if (all == 0) return;
    if (murmur2 == all)
      return say("fine", "partitioner", "all records are in the partition that murmur2 of their id gives", "",
                 "partitioner", "murmur2");
    if (crc32 == all)
      return say("should", "partitioner", "all records are in the partition that crc32 of their id gives",
                 "producers partition as librdkafka does by default, not as Java does", "partitioner", "crc32");
    const bool java = murmur2 >= crc32;
    say("must", "misrouted",
        of(all - std::max(murmur2, crc32), all, "records are not in the partition that ") +
            (java ? "murmur2" : "crc32") + " of their id gives",
        "two records of one document in two partitions are read in any order: their producers have to use one "
        "partitioner, with the id as key; what was counted here of such documents follows the timestamps",
        "partitioner", java ? "murmur2" : "crc32");
  }

  void look_at_requests() {
    if (t_.reused != 0)
      say("must", "sequence_reused", of(t_.reused, t_.requests, "requests have the sequence of another edit"),
          "two edits under one sequence cannot be told apart: the second one would become a dead letter");
    if (t_.behind != 0)
      say("should", "requests_out_of_order",
          of(t_.behind, t_.requests, "requests stand behind a newer request of their document"),
          "they would be dropped as superseded: right if the producer repeats itself, wrong if its numbers do not rise "
          "with the changes");
  }

  void look_at_results() {
    if (t_.unregistered != 0)
      say(s_.observe_from == "beginning" ? "must" : "should", "unregistered",
          of(t_.unregistered, t_.results, "results have a sequence that no request before them has"),
          "such a result would become a dead letter. Requests from before the observer began are not known to it: look "
          "with --from beginning, or long enough");
  }

  [[nodiscard]] bool is_in_header(const std::string& place) const {
    return !s_.observe_sequence.empty() && place.starts_with("header:");
  }

  // What the observer was told of the input the resequencer has to be told as well.
  void suggest_places() {
    const char* const why = "then the producers stay as they are; what the pipeline writes needs the key and reseq-seq";
    if (is_in_header(s_.observe_id))
      say("should", "input_place", "requests have their document id in a header", why, "input.id", s_.observe_id);
    if (is_in_header(s_.observe_sequence))
      say("should", "input_place", "requests have their sequence in a header of their own", why, "input.sequence",
          s_.observe_sequence);
  }

  void suggest_intake() {
    const std::uint64_t share = percent(t_.superseded, t_.results);
    const std::string seen = of(t_.superseded, t_.results, "results were for a request that was outdated already");
    if (t_.results == 0) return;
    if (share >= kWorthInline)
      say("should", "intake", seen, "inline drops outdated requests before the pipeline works on them", "intake",
          "inline");
    else
      say("should", "intake", seen,
          "tap leaves the pipeline as it is, and there is little work to be saved by the other one", "intake", "tap");
    if (share >= kNeverAtRest)
      say("should", "starvation", seen,
          "documents change faster than the pipeline works: only the newest result passes, and for some documents none "
          "would until they have waited for so long; then those that rise do",
          "starvation_after_ms", std::to_string(60'000));
  }

  void suggest_timeout() {
    const std::uint64_t answers = t_.answer_ms.count();
    if (answers < kAnswersMin)
      return say("should", "registration_timeout", number(answers) + " results were seen behind their request",
                 "too few to say how long a result may take: look longer", "registration_timeout_ms");
    const std::uint64_t slow = quantile(t_.answer_ms, kSlowest);
    const auto slowest = static_cast<std::uint64_t>(std::max<std::int64_t>(0, t_.answer_ms_max));
    // A bucket may end above the slowest of all.
    const std::string seen =
        slow >= slowest
            ? "all " + number(answers) + " results behind their request came within " + number(slowest) + " ms"
            : "of " + number(answers) + " results behind their request 999 of 1000 came within " + number(slow) +
                  " ms, the slowest took " + number(slowest) + " ms";
    say("should", "registration_timeout", seen,
        "twice the longest, at least a minute: what takes longer is lost rather than slow", "registration_timeout_ms",
        std::to_string(std::max<std::int64_t>(60'000, 2 * std::min<std::int64_t>(t_.answer_ms_max, 30 * kDayMs))));
  }

  void suggest_retention() {
    std::int64_t wanted = std::max(kRetentionMinMs, kTimesLatest * std::min(t_.lateness_ms_max, 365 * kDayMs));
    std::string why = "the latest stale write came " + std::to_string(t_.lateness_ms_max) + " ms behind a newer one";
    if (!seen_.input.facts) {
      wanted = std::max(wanted, 7 * kDayMs);
      why += "; retention.ms of the input is not told to this user (DescribeConfigs), 7 days is Kafka's default";
    } else if (seen_.input.facts->retention_ms < 0 || !seen_.input.facts->deletes) {
      wanted = std::max(wanted, 7 * kDayMs);
      why += "; the input keeps records for ever: nobody may read old requests again once their document is forgotten";
    } else {
      wanted = std::max(wanted, seen_.input.facts->retention_ms);
      why += ", and the input keeps records for " + std::to_string(seen_.input.facts->retention_ms) +
             " ms: a request that is read again must still be known";
    }
    say("should", "watermark_retention", "how long finished documents have to be remembered", why,
        "watermark_retention_ms", std::to_string(wanted));
  }

  const Seen& seen_;
  const Tally& t_;
  const config::Settings& s_;
  std::vector<Advice> all_;
};

}  // namespace

std::vector<Advice> advice_for(const Seen& seen, const config::Settings& settings) {
  return Adviser(seen, settings).all();
}

}  // namespace reseq::observe
