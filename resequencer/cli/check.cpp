#include "cli/check.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "changelog/inventory.h"
#include "cli/state_reading.h"
#include "codec/hash.h"
#include "kafka/admin.h"
#include "kafka/error_questions.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application/application.h"
#include "runtime/application/clients.h"
#include "runtime/application/needed_rights.h"
#include "runtime/application/open_files.h"
#include "runtime/application/pinned_inputs.h"
#include "runtime/application/topic_rules.h"
#include "runtime/takeover/recovery.h"
#include "store/disk_copy.h"
#include "store/instance_folder.h"

namespace reseq::cli {

namespace {

constexpr std::size_t kAdminTopics = 2;

class Check {
 public:
  Check(config::Settings settings, Format format) : application_(std::move(settings)), format_(format) {}

  Result<> run(ReadState read_state) {
    look(read_state);
    std::fputs(findings_.text(format_).c_str(), stdout);
    if (!findings_.any_error()) return Done{};
    return Error{ErrorClass::kInvalid, 0, ""};
  }

 private:
  // In the order in which one thing is needed to look at the next.
  void look(ReadState read_state) {
    findings_.add(Verdict::kOk, "config", "application " + s().application_id + ", instance " + s().instance_id);
    if (!look_at_brokers()) return;
    look_at_open_files();
    look_at_folder();
    look_at_admin_topics();
    const bool may = look_at_rights();
    if (look_at_topics() && may && read_state == ReadState::kYes) look_at_state();
  }

  bool look_at_brokers() {
    auto opened = kafka::open_cluster(runtime::cluster_settings_of(application_, std::nullopt));
    if (!opened) return refuse("librdkafka", opened.error().message);
    cluster_ = std::move(opened).value();
    auto answers = application_.ask(*cluster_, kafka::kBrokerAnswerLimit);
    if (!answers) return refuse("brokers", runtime::with_fix(answers.error(), s()).message);
    answers_ = std::move(answers).value();
    findings_.add(Verdict::kOk, "brokers", s().bootstrap_servers + ", cluster " + application_.cluster_id);
    return true;
  }

  bool look_at_rights() {
    std::vector<kafka::Right> needed = runtime::needed_rights(application_, answers_);
    if (admin_topics_) {
      const std::vector<kafka::Right> more = runtime::admin_rights(application_);
      needed.insert(needed.end(), more.begin(), more.end());
    }
    auto told = kafka::ask_rights(runtime::connection_of(s()), needed, kafka::kBrokerAnswerLimit);
    if (!told) return refuse("rights", told.error().message);
    if (auto looked = look_at_own_ids(told.value()); !looked) return refuse("rights", looked.error().message);
    const bool good = note("rights", runtime::judge_rights(s(), told.value()));
    if (good) findings_.add(Verdict::kOk, "rights", "all " + std::to_string(told.value().size()) + " that it needs");
    return good;
  }

  // Without them everything else works.
  void look_at_admin_topics() {
    auto admin = kafka::Admin::open(runtime::connection_of(s()));
    std::string missing;
    for (const std::string& topic : {s().topic_admin_requests, s().topic_admin_replies}) {
      const auto exists = admin ? admin.value()->partition_count(topic, kafka::kBrokerAnswerLimit)
                                : Result<std::int32_t>(admin.error());
      // What may not even be asked is a matter of rights.
      if (exists || kafka::is_forbidden(exists.error())) continue;
      admin_topics_ = false;
      if (kafka::is_unknown_topic(exists.error())) {
        missing += (missing.empty() ? "" : ", ") + topic;
        continue;
      }
      findings_.add(Verdict::kWarning, "admin",
                    "queries will not be answered: topic " + topic + ": " + exists.error().message);
    }
    if (missing.empty()) return;
    findings_.add(Verdict::kWarning, "admin",
                  "queries will not be answered without the topics " + missing + ": `resequencer init` creates them");
  }

  // Where the prefix of all transactional ids is not granted, each of those that this process has may be.
  Result<> look_at_own_ids(std::vector<kafka::RightAnswer>& told) {
    const auto prefix = std::find_if(told.begin(), told.end(), [](const kafka::RightAnswer& answer) {
      return answer.right.resource == kafka::Resource::kTransactionalId && answer.granted == kafka::Granted::kNo;
    });
    if (prefix == told.end()) return Done{};
    const auto own = kafka::ask_rights(runtime::connection_of(s()), runtime::own_transactional_ids(application_),
                                       kafka::kBrokerAnswerLimit);
    if (!own) return own.error();
    const bool any = std::any_of(own.value().begin(), own.value().end(), [](const kafka::RightAnswer& answer) {
      return answer.granted == kafka::Granted::kYes;
    });
    if (!any) return Done{};
    told.erase(prefix);
    told.insert(told.end(), own.value().begin(), own.value().end());
    return Done{};
  }

  // False: an error is among them.
  bool note(const char* subject, const std::vector<runtime::Finding>& found) {
    bool good = true;
    for (const runtime::Finding& finding : found) {
      good = good && finding.severity != runtime::Severity::kError;
      if (finding.about_a_right) continue;  // look_at_rights() has said it better
      const bool warning = finding.severity == runtime::Severity::kWarning;
      findings_.add(warning ? Verdict::kWarning : Verdict::kError, subject, finding.text);
    }
    return good;
  }

  bool look_at_topics() {
    const bool good = note("topics", runtime::judge_topics(application_, answers_));
    if (good)
      findings_.add(Verdict::kOk, "topics",
                    std::to_string(answers_.size() + (admin_topics_ ? kAdminTopics : 0)) + " topics, inputs with " +
                        std::to_string(application_.partitions) + " partitions");
    return good;
  }

  void look_at_open_files() {
    if (const auto few = runtime::too_few_open_files(runtime::raise_open_files(), application_.partitions, s().workers))
      findings_.add(Verdict::kWarning, "files", *few);
  }

  void look_at_folder() {
    const std::string path = runtime::instance_path(s());
    const auto looked = store::InstanceFolder::look(path, {s().application_id, application_.cluster_id});
    if (looked) return findings_.add(Verdict::kOk, "folder", path);
    const bool held = store::is_held(looked.error());
    folder_is_ours_ = held;
    findings_.add(held ? Verdict::kWarning : Verdict::kError, "folder", looked.error().message);
  }

  void look_at_state() {
    auto reader = cluster_->log_reader();
    if (!reader) return (void)refuse("state", reader.error().message);
    std::uint64_t live = 0;
    std::uint64_t watermarks = 0;
    bool good = true;
    for (std::int32_t p = 0; p < application_.partitions; ++p) {
      const auto inventory = read_state(*reader.value(), application_, Partition(p));
      if (!inventory) {
        good = refuse("state", "partition " + std::to_string(p) + ": " + inventory.error().message);
        if (inventory.error().what_to_do != ErrorClass::kInvalid) return;
        continue;
      }
      if (const auto reason = refusal(inventory.value()))
        return (void)refuse("state", "partition " + std::to_string(p) + ": " + *reason);
      if (const auto reason = lost(Partition(p), inventory.value())) {
        good = refuse("state", "partition " + std::to_string(p) + ": " + *reason);
        continue;
      }
      if (inventory.value().records == 0) empty_.emplace_back(p);
      if (!inventory.value().meta) continue;
      stands_[Partition(p)] = inventory.value().meta->positions;
      if (inventory.value().identity) look_at_pins(*reader.value(), Partition(p), inventory.value());
      live += inventory.value().meta->summary.counts[Count::kLiveRows];
      watermarks += inventory.value().meta->summary.counts[Count::kWatermarks];
    }
    if (good)
      findings_.add(
          Verdict::kOk, "state",
          std::to_string(live) + " documents wait for results, " + std::to_string(watermarks) + " are complete");
    auto admin = kafka::Admin::open(runtime::connection_of(s()));
    if (!admin) return (void)refuse("offsets", admin.error().message);
    for (const Role role : runtime::kInputs) look_at_positions(*admin.value(), role);
  }

  // As a takeover does: is the record that was decided last still the one that the log of the input has?
  void look_at_pins(kafka::LogReader& reader, Partition partition, const changelog::Inventory& inventory) {
    runtime::PinnedInputs pins;
    pins.expect(inventory.meta->pins, inventory.meta->positions);
    for (const InputPosition& position : inventory.meta->positions) {
      if (pins.pin(position.role) == nullptr) continue;
      const InputPin pin = *pins.pin(position.role);
      const kafka::TopicPartition where{application_.topics.of(pin.role), partition};
      const auto found = judge_pin(reader, where, pins, position, codec::KeyedHash(inventory.identity->hash_key));
      if (!found) return (void)refuse("inputs", found.error().message);
      const bool other = found.value() == runtime::PinnedInputs::Judgement::kOther;
      const bool missing = found.value() == runtime::PinnedInputs::Judgement::kMissing &&
                           !(pin.role == Role::kRequests && application_.requests_compacted);
      if (!other && !missing) continue;
      refuse("inputs", "topic " + application_.topics.name(where.topic) + " partition " +
                           std::to_string(partition.value()) + ": offset " + std::to_string(pin.offset.value()) +
                           " was decided last and " + (other ? "is another record now" : "has no record now") +
                           ": the topic was deleted and made anew, or another log was put in its place; `resequencer "
                           "seek` says where to go on in it");
    }
  }

  // What is out of reach says nothing.
  [[nodiscard]] static Result<runtime::PinnedInputs::Judgement> judge_pin(kafka::LogReader& reader,
                                                                          kafka::TopicPartition where,
                                                                          runtime::PinnedInputs& pins,
                                                                          const InputPosition& position,
                                                                          const codec::KeyedHash& hash) {
    const kafka::TopicPartitionOffset place{where, pins.read_from(position.role, position.next)};
    const auto begins = reader.begins(std::span(&where, 1), kafka::kBrokerAnswerLimit);
    if (!begins) return begins.error();
    if (begins.value().front().offset > place.offset) return runtime::PinnedInputs::Judgement::kGoOn;
    if (auto assigned = reader.assign(std::span(&place, 1)); !assigned) return assigned.error();
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kafka::kBrokerAnswerLimit.value());
    while (std::chrono::steady_clock::now() < until) {
      auto polled = reader.poll(Milliseconds(100));
      if (!polled) return polled.error();
      if (const auto* record = std::get_if<kafka::Record>(&polled.value()))
        return pins.judge(position.role, *record, hash);
      if (const auto* end = std::get_if<kafka::EndOfLog>(&polled.value()))
        return pins.judge_end(position.role, end->offset, position.next);
      if (std::holds_alternative<kafka::PartitionFailure>(polled.value())) break;
    }
    return runtime::PinnedInputs::Judgement::kGoOn;
  }

  // A changelog that was deleted, or whose beginning was, although what is left can be read.
  [[nodiscard]] std::optional<std::string> lost(Partition partition, const changelog::Inventory& inventory) const {
    if (inventory.records != 0 && !inventory.identity)
      return "the changelog begins without the identity: its beginning was deleted, see docs/recovery.md";
    if (inventory.records != 0 || !folder_is_ours_) return std::nullopt;
    const std::string path = runtime::instance_path(s()) + "/" + std::to_string(partition.value());
    const auto copy = store::look_at_copy(path, store::boot_id());
    if (!copy) return std::nullopt;
    return "the changelog is empty, but " + path + " has a copy of the state with " +
           std::to_string(copy->summary.counts[Count::kLiveRows] + copy->summary.counts[Count::kWatermarks]) +
           " documents: it was deleted or emptied, see docs/recovery.md";
  }

  // Positions only rise, also while an instance runs: what is asked later and is lower was moved.
  void look_at_positions(kafka::Admin& admin, Role role) {
    const std::string& topic = application_.topics.name(application_.topics.of(role));
    const auto begins = admin.begins(topic, kafka::kBrokerAnswerLimit);
    const auto committed = begins ? admin.committed(s().application_id, topic, kafka::kBrokerAnswerLimit) : begins;
    if (!committed) return (void)refuse("offsets", committed.error().message);
    for (const Partition partition : empty_) {
      const Offset offset = committed.value()[static_cast<std::size_t>(partition.value())].offset;
      if (role != Role::kRequests || offset == kNoOffset) continue;
      refuse("state", "partition " + std::to_string(partition.value()) + ": the changelog has no records, but offset " +
                          std::to_string(offset.value()) + " of " + topic +
                          " is committed: it was deleted or emptied, see docs/recovery.md");
    }
    for (const auto& [partition, positions] : stands_) {
      const auto at = static_cast<std::size_t>(partition.value());
      for (const InputPosition& position : positions)
        if (position.role == role)
          compare(topic + " partition " + std::to_string(partition.value()), position.next,
                  committed.value()[at].offset, begins.value()[at].offset);
    }
  }

  void compare(const std::string& where, Offset stands, Offset committed, Offset begin) {
    if (committed != kNoOffset && committed < stands)
      refuse("offsets", "topic " + where + ": the group has offset " + std::to_string(committed.value()) +
                            ", the state stands at " + std::to_string(stands.value()) +
                            ": `resequencer seek` accepts the former (committed) or puts it back (standing)");
    if (std::max(stands, committed) < begin)
      refuse("offsets", "topic " + where + " begins at offset " + std::to_string(begin.value()) +
                            ", the state stands at " + std::to_string(stands.value()) +
                            ": records were deleted that nobody processed; `resequencer seek` goes on behind them "
                            "(begin)");
  }

  [[nodiscard]] std::optional<std::string> refusal(const changelog::Inventory& inventory) const {
    if (inventory.identity)
      if (auto reason = runtime::refusal(*inventory.identity, inventory.meta, application_)) return reason;
    if (inventory.waiting.empty()) return std::nullopt;
    const auto& [target, documents] = *inventory.waiting.begin();
    return std::to_string(documents) + " " + runtime::target_still_waits(target);
  }

  bool refuse(const char* subject, const std::string& text) {
    findings_.add(Verdict::kError, subject, text);
    return false;
  }

  [[nodiscard]] const config::Settings& s() const { return application_.settings; }

  runtime::Application application_;
  Format format_;
  Findings findings_;
  std::unique_ptr<kafka::Cluster> cluster_;
  runtime::TopicAnswers answers_;
  std::map<Partition, std::vector<InputPosition>> stands_;  // in the changelog
  std::vector<Partition> empty_;                            // whose changelog has no records
  bool folder_is_ours_ = true;
  bool admin_topics_ = true;
};

}  // namespace

Result<> check(config::Settings settings, ReadState read_state, Format format) {
  return Check(std::move(settings), format).run(read_state);
}

}  // namespace reseq::cli
