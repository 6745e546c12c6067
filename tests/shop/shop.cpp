#include "tests/shop/shop.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "kafka/librdkafka_cluster.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {

namespace {

using std::chrono::milliseconds;

constexpr Milliseconds kAskLimit{10'000};
constexpr Milliseconds kFlushLimit{60'000};
constexpr milliseconds kSettleLimit{120'000};
constexpr int kEndLimitMs = 60'000;

Seen seen_of(const kafka::PlainRecord& record) {
  Seen seen;
  seen.key = std::string(record.key.value_or(""));
  if (record.payload) seen.payload = std::string(*record.payload);
  seen.partition = record.partition.value();
  for (const Header& header : record.headers)
    seen.headers.emplace_back(std::string(header.name), std::string(header.value.value_or("")));
  return seen;
}

TextHeaders order_headers(const std::string& order) {
  TextHeaders headers;
  std::string seq = order;
  if (const std::size_t colon = seq.find(':'); colon != std::string::npos) {
    headers.emplace_back("reseq-epoch", seq.substr(0, colon));
    seq = seq.substr(colon + 1);
  }
  if (const std::size_t dot = seq.find('.'); dot != std::string::npos) {
    headers.emplace_back("reseq-revision", seq.substr(dot + 1));
    seq = seq.substr(0, dot);
  }
  headers.emplace_back("reseq-seq", seq);
  return headers;
}

std::string order_text(const std::string& epoch, const std::string& seq, const std::string& revision) {
  const bool has_epoch = !epoch.empty() && epoch != "0";
  const bool has_revision = !revision.empty() && revision != "0";
  return (has_epoch ? epoch + ":" : "") + seq + (has_revision ? "." + revision : "");
}

// "a 2:5.1", and " delete" behind it.
std::string brief(const Seen& seen) {
  const std::string order =
      order_text(seen.header("reseq-epoch"), seen.header("reseq-seq"), seen.header("reseq-revision"));
  return seen.key + " " + order + (seen.header("reseq-op") == "delete" ? " delete" : "");
}

std::string event_line(const Seen& seen) {
  const auto event = nlohmann::json::parse(seen.payload.value_or(""));
  const auto text = [&](const char* name) { return event.contains(name) ? " " + event[name].get<std::string>() : ""; };
  std::string order;
  if (event.contains("order")) {
    const auto& said = event["order"];
    order = order_text(std::to_string(said["epoch"].get<int>()), said.value("seq", ""), said["revision"]);
  }
  const std::string kind = event["kind"];
  if (kind == "reset") return "reset " + order.substr(0, order.find(':'));
  if (kind == "overdue") return seen.key + " " + order + " overdue";
  return seen.key + " " + order + text("outcome") + text("table_row") + text("reason");
}

// What the last rebalance gave to a process, by its log.
int partitions_assigned(const std::string& log) {
  const std::string assigned = "group=assigned partitions=";
  const std::size_t at = log.rfind("group=");
  if (at == std::string::npos || log.compare(at, assigned.size(), assigned) != 0) return 0;
  return std::atoi(log.c_str() + at + assigned.size());
}

}  // namespace

std::string Seen::header(const std::string& name) const {
  std::string value;
  for (const auto& [one, said] : headers)
    if (one == name) value = said;
  return value;
}

std::uint64_t Seen::number(const std::string& name) const {
  const std::string value = header(name);
  return value.empty() ? 0 : std::stoull(value);
}

Shop::Shop(const std::string& toml, int partitions)
    : partitions_(partitions),
      run_(Broker::shared().bootstrap_servers(), unique_name("shop"), {},
           "init.partitions = " + std::to_string(partitions) + "\ninit.work_partitions = 1\n" +
               "init.output_partitions = " + std::to_string(partitions) + "\n" + toml),
      admin_(good(kafka::Admin::open(run_.connection()))),
      producer_(good(kafka::PlainProducer::open(run_.connection()))) {}

Shop::~Shop() = default;

void Shop::start(int instance, const std::vector<std::string>& environment) {
  flush();
  processes_[instance] = run_.start(instance, environment);
}

void Shop::kill(int instance) {
  flush();
  processes_.at(instance)->signal(SIGKILL);
  (void)wait_for_end(instance);
}

int Shop::stop(int instance) {
  flush();
  processes_.at(instance)->signal(SIGTERM);
  return wait_for_end(instance);
}

int Shop::wait_for_end(int instance) {
  const auto process = std::move(processes_.at(instance));
  processes_.erase(instance);
  return process->wait(kEndLimitMs);
}

bool Shop::wait_for_stop(int instance) {
  const std::string path = "/proc/" + std::to_string(processes_.at(instance)->pid()) + "/stat";
  return wait_until(kSettleLimit, [&] {
    std::string pid;
    std::string name;
    std::string state;
    std::ifstream(path) >> pid >> name >> state;
    return state == "T";
  });
}

void Shop::resume(int instance) {
  processes_.at(instance)->signal(SIGCONT);
}

std::string Shop::log(int instance) const {
  std::ifstream file(run_.log_file(instance), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void Shop::send(const std::string& role, const std::optional<std::string>& key, const Payload& payload,
                const TextHeaders& headers, std::optional<int> partition) {
  // No pipeline has a result of what is not in the log yet.
  if (role == "commands" && requested_) flush();
  requested_ = requested_ || role == "requests";
  std::vector<Header> views;
  for (const auto& [name, value] : headers) views.push_back({name, value});
  const auto as_view = [](const std::optional<std::string>& text) {
    return text ? std::optional<std::string_view>(*text) : std::nullopt;
  };
  const auto sent = producer_->send(run_.topic(role), as_view(key), as_view(payload), views, {},
                                    partition ? std::optional(Partition(*partition)) : std::nullopt);
  if (!sent) throw std::runtime_error(sent.error().message);
}

void Shop::request(const std::string& id, const std::string& order, const TextHeaders& more) {
  TextHeaders headers = order_headers(order);
  headers.insert(headers.end(), more.begin(), more.end());
  send("requests", id, "request " + id + " " + order, headers);
}

void Shop::result(const std::string& id, const std::string& order, const std::string& target, const TextHeaders& more) {
  TextHeaders headers = order_headers(order);
  headers.insert(headers.end(), {{"reseq-command", "sequence"}, {"reseq-target", target}});
  headers.insert(headers.end(), more.begin(), more.end());
  send("commands", id, id + " " + order, headers);
}

void Shop::answer(const Seen& work, const std::string& target) {
  TextHeaders headers;
  for (const auto& header : work.headers)
    if (header.first.starts_with("reseq-")) headers.push_back(header);
  headers.insert(headers.end(), {{"reseq-command", "sequence"}, {"reseq-target", target}});
  send("commands", work.key, work.payload, headers);
}

void Shop::reset(std::uint32_t epoch) {
  for (int partition = 0; partition < partitions_; ++partition)
    send("requests", "reset", std::nullopt,
         {{"reseq-control", "reset"},
          {"reseq-control-id", "reset-" + std::to_string(epoch)},
          {"reseq-control-partition", std::to_string(partition)},
          {"reseq-epoch", std::to_string(epoch)}},
         partition);
}

void Shop::flush() {
  if (const auto flushed = producer_->flush(kFlushLimit); !flushed) throw std::runtime_error(flushed.error().message);
  requested_ = false;
}

void Shop::wait_for_owners() {
  const bool owned = wait_until(kSettleLimit, [&] {
    require_running();
    int sum = 0;
    for (const auto& [instance, process] : processes_) {
      const int count = partitions_assigned(log(instance));
      if (count == 0) return false;
      sum += count;
    }
    return sum == partitions_;
  });
  if (!owned) throw std::runtime_error("the partitions are not shared by the processes");
}

void Shop::settle() {
  flush();
  wait_for_members();
  const bool drained = wait_until(kSettleLimit, [&] {
    require_running();
    return run_.drained();
  });
  if (!drained) throw std::runtime_error("inputs still wait: " + log());
}

// librdkafka 2.0.2 crashes now and then when it asks for the offsets of a group whose coordinator is still loading, as
// that of a fresh broker is. Once the group has members it is loaded.
void Shop::wait_for_members() {
  const bool any = wait_until(kSettleLimit, [&] {
    require_running();
    return std::any_of(processes_.begin(), processes_.end(),
                       [&](const auto& one) { return log(one.first).find(" takeover=") != std::string::npos; });
  });
  if (!any) throw std::runtime_error("no partition is taken over");
}

void Shop::require_running() {
  for (const auto& [instance, process] : processes_)
    if (!process->running()) throw std::runtime_error("a process has ended: " + process->tail());
}

std::vector<kafka::PlainOffset> Shop::closed_ends(const std::string& topic, kafka::LogReader& outsider) {
  std::vector<kafka::PlainOffset> ends;
  const bool closed = wait_until(kSettleLimit, [&] {
    std::vector<kafka::TopicPartition> partitions;
    const auto stable = admin_->stable_ends(topic, kAskLimit);
    if (!stable) return false;
    ends = stable.value();
    for (const auto& end : ends) partitions.push_back({kafka::TopicIndex(0), end.partition});
    const auto high = outsider.high_watermarks(partitions, kAskLimit);
    if (!high) return false;
    return std::equal(ends.begin(), ends.end(), high.value().begin(), high.value().end(),
                      [](const auto& a, const auto& b) { return a.offset == b.offset; });
  });
  if (!closed) throw std::runtime_error("a transaction stays open in " + topic);
  return ends;
}

Shop::Reader& Shop::reader(const std::string& topic) {
  Reader& one = readers_[topic];
  if (one.consumer) return one;
  kafka::ClusterSettings settings;
  settings.connection = run_.connection();
  settings.topics = {topic};
  settings.group_id = settings.transactional_id = run_.application_id() + ".outsider";
  one.cluster = good(kafka::open_cluster(settings));
  one.outsider = good(one.cluster->log_reader());
  one.consumer = good(kafka::GroupConsumer::open(run_.connection()));
  if (auto assigned = one.consumer->assign_all(topic, {}, kAskLimit); !assigned)
    throw std::runtime_error(assigned.error().message);
  return one;
}

const std::vector<Seen>& Shop::records_of_topic(const std::string& topic) {
  Reader& one = reader(topic);
  const auto ends = closed_ends(topic, *one.outsider);
  const auto reached = [&] {
    const auto positions = one.consumer->positions();
    return std::all_of(ends.begin(), ends.end(), [&](const kafka::PlainOffset& end) {
      return end.offset == Offset(0) || std::any_of(positions.begin(), positions.end(), [&](const auto& position) {
               return position.partition == end.partition && position.offset >= end.offset;
             });
    });
  };
  const bool read = wait_until(kSettleLimit, [&] {
    while (const auto polled = good(one.consumer->poll(Milliseconds(20)))) one.seen.push_back(seen_of(*polled));
    return reached();
  });
  if (!read) throw std::runtime_error("the end of " + topic + " was not reached");
  return one.seen;
}

std::vector<std::string> Shop::work() {
  std::vector<std::string> lines;
  for (const Seen& seen : records("work")) lines.push_back(brief(seen) + " -> " + seen.header("reseq-targets"));
  return lines;
}

std::vector<std::string> Shop::released(const std::string& target) {
  std::vector<std::string> lines;
  for (const Seen& seen : records("output." + target)) lines.push_back(brief(seen));
  return lines;
}

std::vector<std::string> Shop::dead_letters() {
  std::vector<std::string> lines;
  for (const Seen& seen : records("dead-letter")) lines.push_back(brief(seen) + " " + seen.header("reseq-reason"));
  return lines;
}

std::vector<std::string> Shop::events() {
  std::vector<std::string> lines;
  for (const Seen& seen : records("events")) lines.push_back(event_line(seen));
  return lines;
}

}  // namespace reseq::test
