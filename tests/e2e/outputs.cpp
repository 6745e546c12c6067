#include "tests/e2e/outputs.h"

#include <optional>
#include <stdexcept>

#include "kafka/admin.h"
#include "kafka/group_consumer.h"

namespace reseq::test {

namespace {

constexpr Milliseconds kLimit{10'000};

template <typename T>
T good(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

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

std::vector<Released> read_outputs(const kafka::Connection& connection, const std::string& topic) {
  auto admin = good(kafka::Admin::open(connection));
  const auto ends = good(admin->stable_ends(topic, kLimit));
  auto consumer = good(kafka::GroupConsumer::open(connection));
  if (auto assigned = consumer->assign_all(topic, {}, kLimit); !assigned)
    throw std::runtime_error(assigned.error().message);

  const auto reached = [&] {
    const auto positions = consumer->positions();
    for (const kafka::PlainOffset& end : ends) {
      bool there = end.offset == Offset(0);
      for (const kafka::PlainOffset& position : positions)
        there = there || (position.partition == end.partition && position.offset >= end.offset);
      if (!there) return false;
    }
    return true;
  };
  std::vector<Released> outputs;
  for (int idle = 0; idle < 100;) {
    const auto polled = good(consumer->poll(Milliseconds(100)));
    if (polled) {
      outputs.push_back(released_of(*polled));
      idle = 0;
    } else if (reached()) {
      return outputs;
    } else {
      ++idle;
    }
  }
  throw std::runtime_error("the end of " + topic + " was not reached");
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
