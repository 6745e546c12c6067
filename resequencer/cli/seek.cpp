#include "cli/seek.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/arena.h"
#include "changelog/batch_rows.h"
#include "changelog/inventory.h"
#include "cli/refusal.h"
#include "cli/state_reading.h"
#include "kafka/admin.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application/application.h"
#include "runtime/application/clients.h"
#include "runtime/application/clock.h"
#include "runtime/application/topic_rules.h"
#include "runtime/takeover/recovery.h"
#include "store/instance_folder.h"

namespace reseq::cli {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds kPollSlice{100};
constexpr Milliseconds kCloseLimit{5'000};
constexpr Milliseconds kSlack{5'000};
constexpr const char* kStanding = "standing";

// One input of one partition.
struct Move {
  Role role = Role::kRequests;
  Offset stands;     // in the changelog
  Offset committed;  // to the group; kNoOffset = none
  Offset to;
};

struct Plan {
  Partition partition;
  changelog::Inventory inventory;
  std::vector<Move> moves;
};

class Seek {
 public:
  Seek(config::Settings settings, const SeekRequest& request) : application_(std::move(settings)), request_(request) {}

  Result<> run(Write write) {
    if (auto opened = open(); !opened) return opened;
    if (write == Write::kReally)
      if (auto alone = be_alone(); !alone) return alone;
    if (auto planned = plan(); !planned) return planned;
    print(write);
    auto done = write == Write::kReally ? commit() : Result<>(Done{});
    if (consumer_) consumer_->close(kCloseLimit);
    return done;
  }

 private:
  Result<> open() {
    auto probe = kafka::open_cluster(runtime::cluster_settings_of(application_, std::nullopt));
    if (!probe) return probe.error();
    const auto answers = application_.ask(*probe.value(), kafka::kBrokerAnswerLimit);
    if (!answers) return runtime::with_fix(answers.error(), application_.settings);
    for (const runtime::Finding& finding : runtime::judge_topics(application_, answers.value()))
      if (finding.severity == runtime::Severity::kError) return invalid(finding.text);
    if (request_.partition && (*request_.partition < 0 || *request_.partition >= application_.partitions))
      return invalid("there is no partition " + std::to_string(*request_.partition) + ": the inputs have " +
                     std::to_string(application_.partitions));
    kafka::ClusterSettings settings = runtime::cluster_settings_of(application_, 0);
    settings.group_instance_id.clear();  // it leaves at once, and takes nobody's place
    auto opened = kafka::open_cluster(std::move(settings));
    if (!opened) return opened.error();
    cluster_ = std::move(opened).value();
    auto admin = kafka::Admin::open(runtime::connection_of(application_.settings));
    if (!admin) return admin.error();
    admin_ = std::move(admin).value();
    return Done{};
  }

  // Nobody else on this host, nobody in the group; then this process is the group, which is what the transaction is
  // fenced by. Whoever runs is not disturbed.
  Result<> be_alone() {
    auto taken = store::InstanceFolder::open(runtime::instance_path(application_.settings),
                                             {application_.settings.application_id, application_.cluster_id});
    if (!taken) return taken.error();
    folder_ = std::move(taken).value();
    if (auto empty = wait_for_empty_group(); !empty) return empty;
    return join();
  }

  // A member that was stopped or killed counts until its session is over.
  Result<> wait_for_empty_group() {
    const auto until =
        SteadyClock::now() + std::chrono::milliseconds(application_.settings.session_timeout_ms + kSlack.value());
    while (true) {
      const auto members = admin_->members(application_.settings.application_id, kafka::kBrokerAnswerLimit);
      if (members && members.value() == 0) return Done{};
      if (SteadyClock::now() > until) return members ? someone_runs() : members.error();
      std::this_thread::sleep_for(std::chrono::milliseconds(kPollSlice.value()));
    }
  }

  Error someone_runs() const {
    return invalid("instances of " + application_.settings.application_id +
                   " are running: stop all of them, then seek (one that was stopped counts for session.timeout.ms)");
  }

  Result<> join() {
    auto made = cluster_->consumer(application_.topics.of(Role::kRequests));
    if (!made) return made.error();
    consumer_ = std::move(made).value();
    const auto until = SteadyClock::now() + std::chrono::milliseconds(kafka::kBrokerAnswerLimit.value());
    while (SteadyClock::now() < until) {
      auto polled = consumer_->poll(kPollSlice);
      if (!polled) return polled.error();
      if (auto* assigned = std::get_if<kafka::Assigned>(&polled.value())) {
        if (assigned->partitions.size() != static_cast<std::size_t>(application_.partitions)) return someone_runs();
        group_ = std::move(assigned->group);
        return init_producer();
      }
    }
    return someone_runs();
  }

  // Ends a transaction that this instance left open; positions are asked afterwards.
  Result<> init_producer() {
    auto made = cluster_->producer();
    if (!made) return made.error();
    producer_ = std::move(made).value();
    return producer_->init(kafka::kBrokerAnswerLimit);
  }

  Result<> plan() {
    auto reader = cluster_->log_reader();
    if (!reader) return reader.error();
    for (const Role role : runtime::kInputs)
      if (auto asked = ask(role); !asked) return asked;
    for (std::int32_t p = 0; p < application_.partitions; ++p) {
      if (request_.partition && *request_.partition != p) continue;
      auto inventory = read_state(*reader.value(), application_, Partition(p), [this] { stay_a_member(); });
      if (!inventory) return inventory.error();
      if (auto planned = plan(Partition(p), std::move(inventory).value()); !planned) return planned;
    }
    return Done{};
  }

  // The group takes a member for dead that does not poll.
  void stay_a_member() {
    if (consumer_) (void)consumer_->poll(Milliseconds(0));
  }

  // What the brokers say of one input, for all its partitions.
  struct Offsets {
    std::vector<kafka::PlainOffset> committed, begins, ends;
  };
  Result<> ask(Role role) {
    const std::string& topic = application_.topics.name(application_.topics.of(role));
    auto committed = admin_->committed(application_.settings.application_id, topic, kafka::kBrokerAnswerLimit);
    if (!committed) return committed.error();
    auto begins = admin_->begins(topic, kafka::kBrokerAnswerLimit);
    if (!begins) return begins.error();
    auto ends = admin_->stable_ends(topic, kafka::kBrokerAnswerLimit);
    if (!ends) return ends.error();
    offsets_[role] = {std::move(committed).value(), std::move(begins).value(), std::move(ends).value()};
    return Done{};
  }

  Result<> plan(Partition partition, changelog::Inventory inventory) {
    const std::string where = "partition " + std::to_string(partition.value()) + ": ";
    if (!inventory.identity || !inventory.meta)
      return invalid(where + "there is no state yet, so there is nothing to move: a new application begins where " +
                     "first_start says");
    if (const auto reason = runtime::refusal(*inventory.identity, inventory.meta, application_))
      return invalid(where + *reason);
    Plan made{partition, std::move(inventory), {}};
    const auto at = static_cast<std::size_t>(partition.value());
    for (const Role role : runtime::kInputs) {
      const Offsets& offsets = offsets_.at(role);
      Move move{role, standing(*made.inventory.meta, role), offsets.committed[at].offset, {}};
      const auto to = target_of(move, offsets.begins[at].offset, offsets.ends[at].offset);
      if (!to)
        return invalid(where + application_.topics.name(application_.topics.of(role)) + ": " + to.error().message);
      move.to = to.value();
      made.moves.push_back(move);
    }
    plans_.push_back(std::move(made));
    return Done{};
  }

  static Offset standing(const Meta& meta, Role role) {
    for (const InputPosition& position : meta.positions)
      if (position.role == role) return position.next;
    return kNoOffset;
  }

  [[nodiscard]] const std::optional<std::string>& said_of(Role role) const {
    return role == Role::kRequests ? request_.requests : role == Role::kControl ? request_.control : request_.commands;
  }
  [[nodiscard]] bool named(Role role) const { return said_of(role).has_value(); }
  [[nodiscard]] std::string word_for(Role role) const { return said_of(role).value_or(kStanding); }

  [[nodiscard]] Result<Offset> target_of(const Move& move, Offset begin, Offset end) const {
    const std::string word = word_for(move.role);
    if (word == "begin") return begin;
    if (word == "end") return end;
    if (word == "committed" && move.committed == kNoOffset) return invalid("no offset is committed");
    Offset to = word == "committed" ? move.committed : move.stands;
    if (word != kStanding && word != "committed") {
      std::int64_t number = -1;
      const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error != std::errc() || rest != word.data() + word.size())
        return invalid("\"" + word + "\" must be standing, committed, begin, end or an offset");
      to = Offset(number);
    }
    if (to < begin || to > end)
      return invalid("offset " + std::to_string(to.value()) + " is not in the log, which has " +
                     std::to_string(begin.value()) + " to " + std::to_string(end.value()) +
                     ": say begin, end or an offset between them");
    return to;
  }

  void print(Write write) const {
    std::printf("%-9s  %-30s %12s %12s %12s\n", "partition", "topic", "stands at", "committed",
                write == Write::kReally ? "goes to" : "would go to");
    for (const Plan& plan : plans_)
      for (const Move& move : plan.moves)
        std::printf("%-9d  %-30s %12lld %12s %12lld\n", plan.partition.value(),
                    application_.topics.name(application_.topics.of(move.role)).c_str(),
                    static_cast<long long>(move.stands.value()),
                    move.committed == kNoOffset ? "none" : std::to_string(move.committed.value()).c_str(),
                    static_cast<long long>(move.to.value()));
  }

  // All partitions in one transaction, as a batch would be.
  Result<> commit() {
    if (auto begun = producer_->begin(); !begun) return begun;
    Arena arena;
    std::vector<kafka::TopicPartitionOffset> next;
    for (const Plan& plan : plans_) {
      const store::Change row = changelog::meta_row(meta_after(plan), arena);
      kafka::OutgoingRecord record;
      record.topic = application_.topics.of(Role::kChangelog);
      record.partition = plan.partition;
      record.key = row.key;
      record.payload = row.value;
      record.timestamp = clock_.now();
      if (auto produced = producer_->produce(record); !produced) return produced;
      for (const Move& move : plan.moves)
        next.push_back({{application_.topics.of(move.role), plan.partition}, move.to});
    }
    if (auto flushed = producer_->flush(kafka::kBrokerAnswerLimit); !flushed) return flushed;
    if (auto sent = producer_->send_offsets(next, *group_, kafka::kBrokerAnswerLimit); !sent) return sent;
    return producer_->commit(kafka::kBrokerAnswerLimit);
  }

  // As a takeover would write it: a generation of its own, nothing decided.
  Meta meta_after(const Plan& plan) const {
    Meta meta = *plan.inventory.meta;
    meta.positions.clear();
    meta.ranges.clear();
    for (const Move& move : plan.moves) {
      meta.positions.push_back({move.role, move.to});
      meta.ranges.push_back({move.role, move.to, move.to});
    }
    // Whoever names an input says that this position is right for the log that is there now.
    std::erase_if(meta.pins, [this](const InputPin& pin) { return named(pin.role); });
    runtime::append_generation(meta.lineage, plan.inventory.end);
    meta.now = std::max(meta.now, clock_.now());
    meta.swept_from.clear();
    meta.swept_to.clear();
    meta.agenda.clear();
    return meta;
  }

  runtime::Application application_;
  const SeekRequest& request_;
  runtime::SystemClock clock_;
  std::unique_ptr<kafka::Cluster> cluster_;
  std::unique_ptr<kafka::Producer> producer_;
  std::unique_ptr<kafka::Admin> admin_;
  std::unique_ptr<kafka::Consumer> consumer_;
  std::unique_ptr<store::InstanceFolder> folder_;
  std::shared_ptr<const kafka::GroupMetadata> group_;
  std::map<Role, Offsets> offsets_;
  std::vector<Plan> plans_;
};

}  // namespace

Result<> seek(config::Settings settings, const SeekRequest& request, Write write) {
  return Seek(std::move(settings), request).run(write);
}

}  // namespace reseq::cli
