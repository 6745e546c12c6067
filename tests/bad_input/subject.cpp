#include "tests/bad_input/subject.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "kafka/admin.h"
#include "tests/e2e/fleet.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Milliseconds kLimit{20'000};
constexpr std::chrono::seconds kSettleLimit{90};
constexpr Milliseconds kSlice{100};

std::string with_application(std::string toml, const std::string& application) {
  static const std::string kMark = "{application}";
  for (std::size_t at = toml.find(kMark); at != std::string::npos; at = toml.find(kMark))
    toml.replace(at, kMark.size(), application);
  return toml;
}

// Header views of what is to be sent; they live as long as the record.
std::vector<Header> views(const Headers& headers) {
  std::vector<Header> views;
  views.reserve(headers.size());
  for (const RecordHeader& header : headers)
    views.push_back({header.name, header.value ? std::optional<std::string_view>(*header.value) : std::nullopt});
  return views;
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Subject::Subject(const std::string& name, const std::string& toml, const std::vector<TopicConfig>& topics) {
  const std::string application = unique_name(name);
  const std::string& brokers = Broker::shared().bootstrap_servers();
  kafka::Connection connection;
  connection.bootstrap_servers = brokers;
  std::vector<kafka::TopicSpec> specs;
  for (const TopicConfig& one : topics) specs.push_back({application + "." + one.role, one.partitions, 1, one.configs});
  const auto admin = good(kafka::Admin::open(connection));
  if (!specs.empty()) good(admin->create_topics(specs, kLimit));
  run_ = std::make_unique<ResequencerRun>(brokers, application, std::vector<std::string>{},
                                          "events = \"all\"\ninit.partitions = " + std::to_string(kPartitions) +
                                              "\ninit.work_partitions = 1\ninit.output_partitions = 1\n" +
                                              with_application(toml, application));
  process_ = run_->start(1);
  producer_ = good(kafka::PlainProducer::open(connection));
}

Place Subject::send(const std::string& role, const Record& record, int partition) {
  const std::string name = topic(role);
  const UnixMs timestamp(now_ms());
  const std::vector<Header> headers = views(record.headers);
  good(producer_->send(name, record.key, record.payload, headers, timestamp, Partition(partition)));
  const Place place{name, partition, next_[{name, partition}]++};
  sent_[place] = {place, timestamp.value(), record};
  return place;
}

void Subject::flush() {
  good(producer_->flush(kLimit));
}

void Subject::answer_work() {
  const std::vector<ReadRecord>& work = read("work");
  for (; answered_ < work.size(); ++answered_) {
    Record result = work[answered_].record;
    std::istringstream targets(result.header("reseq-targets").value_or(""));
    result.headers.push_back({"reseq-command", "sequence"});
    result.headers.push_back({"reseq-target", ""});
    const auto request =
        std::find_if(sent_.begin(), sent_.end(), [&](const auto& one) { return one.second.record.key == result.key; });
    if (request == sent_.end()) throw std::runtime_error("work that nobody asked for");
    for (std::string target; std::getline(targets, target, ',');) {
      result.headers.back().value = target;
      send("commands", result, request->first.partition);
    }
  }
}

void Subject::settle() {
  flush();
  const auto until = Clock::now() + kSettleLimit;
  while (verdicts_.size() < sent_.size()) {
    read_events();
    if (!process_->running() || log().find("parked reason") != std::string::npos || Clock::now() > until)
      throw std::runtime_error(std::to_string(verdicts_.size()) + " events for " + std::to_string(sent_.size()) +
                               " inputs\n" + process_->tail());
  }
  read_until("work", events_of("forwarded"));
  read_until("dead-letter", events_of("dead_lettered"));
  if (const std::size_t redirected = events_of("redirected"); redirected > 0) read_until("missing", redirected);
  for (const auto& [target, records] : released_) read_until("output." + target, records);
}

std::size_t Subject::events_of(const std::string& outcome) const {
  const auto found = outcomes_.find(outcome);
  return found == outcomes_.end() ? 0 : found->second;
}

Subject::Follower& Subject::follower(const std::string& role) {
  Follower& one = followers_[role];
  if (!one.consumer) {
    one.consumer = good(kafka::GroupConsumer::open(run_->connection()));
    good(one.consumer->assign_all(topic(role), {}, kLimit));
  }
  return one;
}

void Subject::read_more(const std::string& role) {
  Follower& one = follower(role);
  for (Milliseconds wait = kSlice; const auto record = good(one.consumer->poll(wait)); wait = Milliseconds(0))
    one.records.push_back(read_record(*record));
}

void Subject::read_until(const std::string& role, std::size_t records) {
  const auto until = Clock::now() + kSettleLimit;
  while (read(role).size() < records && Clock::now() < until) read_more(role);
  if (read(role).size() != records)
    throw std::runtime_error(topic(role) + " holds " + std::to_string(read(role).size()) + " records, events say " +
                             std::to_string(records));
}

void Subject::read_events() {
  read_more("events");
  const std::vector<ReadRecord>& events = read("events");
  for (; events_read_ < events.size(); ++events_read_) {
    const auto json = nlohmann::json::parse(events[events_read_].record.payload.value_or(""));
    const auto& source = json.at("source");
    const Place place{source.at("topic"), source.at("partition"), source.at("offset")};
    if (!sent_.contains(place)) throw std::runtime_error("an event of an input that nobody sent: " + json.dump());
    Verdict verdict;
    verdict.outcome = json.at("outcome");
    verdict.reason = json.value("reason", "");
    if (json.contains("expected")) verdict.expected = json["expected"].value("seq", "");
    if (!verdicts_.emplace(place, verdict).second) throw std::runtime_error("a second event: " + json.dump());
    ++outcomes_[verdict.outcome];
    if (verdict.outcome == "released") ++released_[json.at("target")];
  }
}

const ReadRecord& Subject::letter(const Place& place, const std::string& role) {
  const ReadRecord* found = nullptr;
  for (const ReadRecord& one : read(role)) {
    if (one.record.header("reseq-source-topic") != place.topic ||
        one.record.header("reseq-source-partition") != std::to_string(place.partition) ||
        one.record.header("reseq-source-offset") != std::to_string(place.offset))
      continue;
    if (found != nullptr) throw std::runtime_error("a second dead letter of one input");
    found = &one;
  }
  if (found == nullptr) throw std::runtime_error("no dead letter of this input");
  return *found;
}

std::string Subject::log() const {
  std::ifstream file(run_->log_file(1));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string Subject::finish() {
  std::string wrong;
  process_->signal(SIGTERM);
  if (const int code = process_->wait(20'000); code != 0) wrong += "exit code " + std::to_string(code) + "\n";
  std::string stats;
  std::istringstream lines(log());
  for (std::string line; std::getline(lines, line);) {
    if (line.find("level=error") != std::string::npos || line.find("parked") != std::string::npos ||
        line.find("transaction=") != std::string::npos)
      wrong += line + "\n";
    if (line.find("stats worker=") != std::string::npos) stats = line;
  }
  // Counts of outcomes equal counts of inputs, in the process as in the events.
  const auto number = [&](const std::string& name) { return std::stoull(field(stats, name).value_or("0")); };
  std::uint64_t outcomes = 0;
  for (const char* outcome : {"forwarded", "registered", "released", "removed", "applied", "dropped", "dead_lettered",
                              "redirected", "stopped"}) {
    outcomes += number(outcome);
    if (number(outcome) != events_of(outcome)) wrong += "events and stats differ in " + std::string(outcome) + "\n";
  }
  if (number("inputs") != sent_.size() || outcomes != sent_.size() || number("aborted") != 0)
    wrong += "of " + std::to_string(sent_.size()) + " inputs: " + stats + "\n";
  return wrong;
}

}  // namespace reseq::test
