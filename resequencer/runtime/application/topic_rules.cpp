#include "runtime/application/topic_rules.h"

#include <algorithm>
#include <utility>

#include "config/rules.h"
#include "kafka/error_questions.h"

namespace reseq::runtime {

namespace {

// An instance that was away for longer than half of it reads the whole changelog again.
constexpr std::int64_t kDeleteRetentionLeast = std::int64_t{24} * 3'600'000;
// An outage may last a weekend; with less than a day there is hardly time to notice it.
constexpr std::int64_t kInputRetentionLeast = std::int64_t{24} * 3'600'000;
// What cannot be left out of a record has a bound: an event tells the id twice, once with up to six bytes for each of
// its 4096, and all 64 targets; a row holds the id and two orders for each of 64 targets. Both are below 48 KiB.
constexpr std::uint64_t kEventBytesLeast = 64 * 1024;
constexpr std::uint64_t kRowBytesLeast = 64 * 1024;
// A dead letter without key, payload and headers says below 2 KiB of itself.
constexpr std::uint64_t kLetterBytesLeast = 2 * 1024;

// One broker may fail without losing what was acknowledged, and without stopping.
constexpr std::int32_t kReplicasWanted = 3;
constexpr std::int64_t kInSyncLeast = 2;

std::string replicas(std::int32_t count) {
  return std::to_string(count) + (count == 1 ? " replica" : " replicas");
}

std::string hours(std::int64_t ms) {
  if (ms % 3'600'000 == 0) return std::to_string(ms / 3'600'000) + " h";
  return std::to_string(ms) + " ms";
}

class Judge {
 public:
  Judge(const Application& application, const TopicAnswers& answers) : application_(application), answers_(answers) {}

  std::vector<Finding> findings() {
    look_for_missing();
    compare_partitions();
    judge_changelog();
    judge_inputs();
    judge_sizes();
    for (const Role role : {Role::kChangelog, Role::kRequests, Role::kCommands}) judge_replicas(role);
    return std::move(found_);
  }

 private:
  const kafka::TopicFacts* facts(kafka::TopicIndex topic) const {
    const auto& answer = answers_[topic.value()];
    return answer ? &answer.value() : nullptr;
  }
  const kafka::TopicFacts* facts(Role role) const { return facts(application_.topics.of(role)); }
  [[nodiscard]] std::string topic(Role role) const {
    return "topic " + application_.topics.name(application_.topics.of(role));
  }
  void add(Severity severity, std::string text) { found_.push_back({severity, std::move(text)}); }

  void look_for_missing() {
    std::string missing;
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      if (answers_[i]) continue;
      const Error& error = answers_[i].error();
      const std::string& name = application_.topics.name(kafka::TopicIndex(static_cast<std::uint16_t>(i)));
      if (kafka::is_unknown_topic(error)) {
        missing += (missing.empty() ? "" : ", ") + name;
      } else if (kafka::is_forbidden(error)) {
        found_.push_back({Severity::kError,
                          error.message + ": `resequencer check` names the right that is missing on topic " + name,
                          true});
      } else {
        add(Severity::kError, error.message);
      }
    }
    if (missing.empty()) return;
    add(Severity::kError,
        "these topics do not exist: " + missing +
            ": correct a name that is wrong; then `resequencer init` with this configuration creates the "
            "topics that are missing");
  }

  void compare_partitions() {
    const auto* requests = facts(Role::kRequests);
    if (requests == nullptr) return;
    for (const Role role : {Role::kCommands, Role::kControl, Role::kChangelog}) {
      const auto* other = facts(role);
      if (other == nullptr || other->partitions == requests->partitions) continue;
      add(Severity::kError, topic(role) + " has " + std::to_string(other->partitions) + " partitions, " +
                                application_.topics.name(application_.topics.of(Role::kRequests)) + " has " +
                                std::to_string(requests->partitions) +
                                ": they must be equal; before the first start create " +
                                application_.topics.name(application_.topics.of(role)) + " again with " +
                                std::to_string(requests->partitions) +
                                "; if partitions were added to an input in use, set a new application.id with new "
                                "topics");
    }
  }

  void judge_changelog() {
    const auto* changelog = facts(Role::kChangelog);
    if (changelog == nullptr) return;
    if (!changelog->compacts || changelog->deletes)
      add(Severity::kError, topic(Role::kChangelog) +
                                (changelog->compacts ? " deletes old records" : " is not compacted") +
                                ", so state is lost: set cleanup.policy=compact (without delete)");
    if (changelog->delete_retention_ms == 0)
      add(Severity::kError,
          topic(Role::kChangelog) +
              " has no delete.retention.ms: without it every restart has to read the whole topic; set "
              "delete.retention.ms=604800000");
    else if (changelog->delete_retention_ms < kDeleteRetentionLeast)
      add(Severity::kWarning, topic(Role::kChangelog) +
                                  " has delete.retention.ms=" + std::to_string(changelog->delete_retention_ms) +
                                  ": an instance that was away for half of it has to read the whole topic; set "
                                  "delete.retention.ms=604800000");
  }

  void judge_inputs() {
    for (const Role role : {Role::kCommands, Role::kControl, Role::kDeadLetter})
      if (const auto* one = facts(role); one != nullptr && one->compacts)
        add(Severity::kError, topic(role) +
                                  " is compacted, which removes records that have the same key: set "
                                  "cleanup.policy=delete");
    if (const auto* requests = facts(Role::kRequests); requests != nullptr && requests->compacts)
      add(Severity::kWarning, topic(Role::kRequests) +
                                  " is compacted, which removes older records of a document, also those that nobody "
                                  "has read yet: set cleanup.policy=delete");
    refuse_compacted(application_.topics.of(Role::kEvents));
    if (application_.topics.missing() != application_.topics.of(Role::kDeadLetter))
      refuse_compacted(application_.topics.missing());
    judge_retention();
  }

  // What tells of a record that names no document has no key, which the broker refuses, and its transaction with it.
  void refuse_compacted(kafka::TopicIndex topic) {
    const auto* one = facts(topic);
    if (one == nullptr || !one->compacts) return;
    add(Severity::kError, "topic " + application_.topics.name(topic) +
                              " is compacted, so a record without a key cannot be written, and its partition would be "
                              "parked: set cleanup.policy=delete");
  }

  // A request that is read again after its watermark was swept is new again.
  void judge_retention() {
    const auto* requests = facts(Role::kRequests);
    const std::int64_t remembered = application_.settings.watermark_retention_ms;
    if (requests != nullptr && (!requests->deletes || requests->retention_ms < 0)) {
      add(Severity::kUnsafe,
          topic(Role::kRequests) + " keeps requests for ever, watermark_retention_ms is " + hours(remembered) +
              ": an old request that is read again would count as new; set retention.ms=" + std::to_string(remembered) +
              " on the topic");
    } else if (requests != nullptr && requests->retention_ms > remembered) {
      add(Severity::kUnsafe, "watermark_retention_ms is too short: " + topic(Role::kRequests) + " keeps requests for " +
                                 hours(requests->retention_ms) + ", documents are remembered for " + hours(remembered) +
                                 ", so an old request that is read again would count as new; set "
                                 "watermark_retention_ms = " +
                                 std::to_string(requests->retention_ms));
    }
    judge_journal(requests);
    for (const Role role : {Role::kRequests, Role::kCommands})
      if (const auto* one = facts(role);
          one != nullptr && one->deletes && one->retention_ms >= 0 && one->retention_ms < kInputRetentionLeast)
        add(Severity::kWarning,
            topic(role) + " keeps records for " + hours(one->retention_ms) +
                " only: an outage that is longer loses what was not read; set retention.ms=604800000");
  }

  // What waits by its place is read again when its turn has come, and once more when its lease was lost.
  void judge_journal(const kafka::TopicFacts* requests) {
    const config::Settings& s = application_.settings;
    if (!application_.keeps_under_way || requests == nullptr) return;
    const std::int64_t longest = config::longest_wait_ms(s);
    if (requests->deletes && requests->retention_ms >= 0 && requests->retention_ms <= longest)
      add(Severity::kUnsafe, topic(Role::kRequests) + " keeps requests for " + hours(requests->retention_ms) +
                                 ", and they may wait longer (" + config::longest_wait_text(s) + ", together " +
                                 hours(longest) +
                                 "), so one would be gone when its turn has come; set retention.ms above " +
                                 std::to_string(longest) + " on the topic");
    if (requests->compacts)
      add(Severity::kUnsafe, topic(Role::kRequests) +
                                 " is compacted, so a request that waits or is tried again may be gone when its turn "
                                 "has come; set cleanup.policy=delete");
  }

  // Whether a broker that fails loses what was acknowledged, or stops everything. What the cluster
  // cannot give is not asked of it.
  void judge_replicas(Role role) {
    const auto* one = facts(role);
    if (one == nullptr) return;
    const std::int32_t wanted = std::min(kReplicasWanted, one->brokers);
    const std::int64_t in_sync = one->min_insync_replicas;
    if (one->replicas < wanted)
      add(Severity::kWarning, topic(role) + " has " + replicas(one->replicas) + ", the cluster has " +
                                  std::to_string(one->brokers) +
                                  " brokers: a broken disk may lose what was acknowledged; give each partition " +
                                  std::to_string(wanted) + " with kafka-reassign-partitions.sh");
    if (one->replicas >= kReplicasWanted && in_sync < kInSyncLeast)
      add(Severity::kWarning, topic(role) + " has min.insync.replicas=" + std::to_string(in_sync) +
                                  ": what was acknowledged may be on one disk only; set min.insync.replicas=2");
    if (one->replicas > 1 && in_sync >= one->replicas)
      add(Severity::kWarning, topic(role) + " has min.insync.replicas=" + std::to_string(in_sync) + " and " +
                                  replicas(one->replicas) +
                                  ": one broker that fails stops all writing; set min.insync.replicas=" +
                                  std::to_string(one->replicas - 1));
    if (one->unclean_election)
      add(Severity::kWarning, topic(role) +
                                  " has unclean.leader.election.enable=true: a replica that lacks what was "
                                  "acknowledged may lead, and it is lost; set unclean.leader.election.enable=false");
  }

  // The broker would refuse a larger record, and with it its transaction, again and again.
  void demand_room(kafka::TopicIndex topic, std::uint64_t least) {
    const auto* one = facts(topic);
    if (one == nullptr || one->max_message_bytes >= least) return;
    add(Severity::kError, "topic " + application_.topics.name(topic) + " takes records of " +
                              std::to_string(one->max_message_bytes) + " bytes, which is too little: set " +
                              "max.message.bytes to " + std::to_string(least) + " or more");
  }

  void judge_sizes() {
    demand_room(application_.topics.of(Role::kEvents), kEventBytesLeast);
    demand_room(application_.topics.of(Role::kChangelog), kRowBytesLeast);
    demand_room(application_.topics.of(Role::kDeadLetter), kLetterBytesLeast);
    if (application_.topics.missing() != application_.topics.of(Role::kDeadLetter))
      demand_room(application_.topics.missing(), kLetterBytesLeast);
    const auto* work = facts(Role::kWork);
    const auto* requests = facts(Role::kRequests);
    if (work == nullptr || requests == nullptr || work->max_message_bytes >= requests->max_message_bytes) return;
    add(Severity::kWarning, topic(Role::kWork) + " takes records of " + std::to_string(work->max_message_bytes) +
                                " bytes, requests may have " + std::to_string(requests->max_message_bytes) +
                                ": larger ones become dead letters; set max.message.bytes=" +
                                std::to_string(requests->max_message_bytes + 65'536) + " on " +
                                application_.topics.name(application_.topics.of(Role::kWork)));
  }

  const Application& application_;
  const TopicAnswers& answers_;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> judge_topics(const Application& application, const TopicAnswers& answers) {
  return Judge(application, answers).findings();
}

}  // namespace reseq::runtime
