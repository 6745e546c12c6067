#include "tests/e2e/outputs.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>

#include "kafka/admin.h"
#include "kafka/group_consumer.h"
#include "tests/support/good.h"

namespace reseq::test {

namespace {

constexpr Milliseconds kReadLimit{10'000};

Released released_of(const kafka::PlainRecord& record) {
  Released released;
  released.id = std::string(record.key.value_or(""));
  released.partition = record.partition.value();
  released.removal = !record.payload.has_value();
  released.payload = std::string(record.payload.value_or(""));
  for (const Header& header : record.headers) {
    const std::string value(header.value.value_or(""));
    if (header.name == "reseq-seq") released.sequence = std::stoull(value);
    if (header.name == "reseq-version") released.version = std::stoull(value);
  }
  return released;
}

}  // namespace

void read_all(const kafka::Connection& connection, const std::string& topic,
              const std::function<void(const kafka::PlainRecord&)>& visit) {
  auto admin = good(kafka::Admin::open(connection));
  const auto ends = good(admin->stable_ends(topic, kReadLimit));
  auto consumer = good(kafka::GroupConsumer::open(connection));
  if (auto assigned = consumer->assign_all(topic, {}, kReadLimit); !assigned)
    throw std::runtime_error(assigned.error().message);

  const auto reached = [&] {
    const auto positions = consumer->positions();
    return std::all_of(ends.begin(), ends.end(), [&](const kafka::PlainOffset& end) {
      return end.offset == Offset(0) || std::any_of(positions.begin(), positions.end(), [&](const auto& position) {
               return position.partition == end.partition && position.offset >= end.offset;
             });
    });
  };
  // The end of each partition is nothing, too.
  using Clock = std::chrono::steady_clock;
  for (auto heard = Clock::now(); Clock::now() - heard < std::chrono::milliseconds(kReadLimit.value());) {
    const auto polled = good(consumer->poll(Milliseconds(100)));
    if (polled) {
      visit(*polled);
      heard = Clock::now();
    } else if (reached()) {
      return;
    }
  }
  throw std::runtime_error("the end of " + topic + " was not reached");
}

std::vector<Released> read_outputs(const kafka::Connection& connection, const std::string& topic) {
  std::vector<Released> outputs;
  read_all(connection, topic, [&](const kafka::PlainRecord& record) { outputs.push_back(released_of(record)); });
  return outputs;
}

SinkLetters read_sink_letters(const kafka::Connection& connection, const std::string& topic) {
  SinkLetters letters;
  read_all(connection, topic + ".dead-letter", [&](const kafka::PlainRecord& record) {
    auto& headers = letters[std::string(record.key.value_or(""))];
    for (const Header& header : record.headers) headers[std::string(header.name)] = header.value.value_or("");
  });
  return letters;
}

OverdueWatch::OverdueWatch(const kafka::Connection& connection, const std::string& topic)
    : consumer_(good(kafka::GroupConsumer::open(connection))) {
  if (auto assigned = consumer_->assign_all(topic, {}, kReadLimit); !assigned)
    throw std::runtime_error(assigned.error().message);
}

void OverdueWatch::look() {
  while (const auto polled = good(consumer_->poll(Milliseconds(500)))) {
    const std::string payload(polled->payload.value_or(""));
    if (payload.find("\"kind\":\"overdue\"") == std::string::npos) continue;
    ++total_;
    const std::string id(polled->key.value_or(""));
    std::vector<std::string>& known = payloads_[id];
    if (std::find(known.begin(), known.end(), payload) != known.end()) doubled_.push_back(id + ": " + payload);
    known.push_back(payload);
  }
}

int OverdueWatch::of(const std::string& id) const {
  const auto found = payloads_.find(id);
  return found == payloads_.end() ? 0 : static_cast<int>(found->second.size());
}

std::size_t OverdueWatch::seen(std::string (*name)(std::size_t), std::size_t begin, std::size_t end) const {
  std::size_t seen = 0;
  for (std::size_t i = begin; i < end; ++i) seen += of(name(i)) > 0 ? 1 : 0;
  return seen;
}

std::vector<std::string> violations(const std::vector<Released>& outputs, const std::map<std::string, Expected>& end,
                                    std::size_t most) {
  std::vector<std::string> found;
  const auto report = [&](const std::string& line) {
    if (found.size() < most) found.push_back(line);
  };
  std::map<std::int32_t, std::uint64_t> last_version;
  std::map<std::string, Released> last;
  for (const Released& output : outputs) {
    const std::string name = output.id + "@" + std::to_string(output.sequence);
    std::uint64_t& before = last_version[output.partition];
    if (output.version <= before)
      report(name + ": version does not rise in partition " + std::to_string(output.partition));
    before = output.version;
    const auto known = last.find(output.id);
    if (known != last.end() && known->second.sequence == output.sequence) report(name + ": released twice");
    if (known != last.end() && known->second.sequence > output.sequence)
      report(name + ": released after " + std::to_string(known->second.sequence));
    WorkloadRequest request;
    request.id = output.id;
    request.sequence = output.sequence;
    if (!output.removal && output.payload != request.payload()) report(name + ": payload of another request");
    last[output.id] = output;
  }
  for (const auto& [id, expected] : end) {
    const auto released = last.find(id);
    if (released == last.end()) {
      report(id + ": missing, expected " + std::to_string(expected.sequence));
    } else if (released->second.sequence != expected.sequence || released->second.removal != expected.removal) {
      report(id + ": ends with " + std::to_string(released->second.sequence) + ", expected " +
             std::to_string(expected.sequence));
    }
  }
  for (const auto& [id, released] : last)
    if (!end.contains(id)) report(id + ": nobody asked for it");
  return found;
}

}  // namespace reseq::test
