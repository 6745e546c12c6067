#include "tests/bench/output_check.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "kafka/admin.h"
#include "kafka/librdkafka_cluster.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

template <typename Number>
Number number_in(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::runtime_error("not a number: " + std::string(text));
  return number;
}

constexpr Milliseconds kLimit{10'000};
constexpr std::chrono::seconds kMarkerLimit{30};

struct Seen {
  std::uint64_t records = 0;
  std::vector<std::uint32_t> last;  // sequence by document
  std::size_t payload_bytes = kPayloadBytes;

  explicit Seen(const Requests& requests) : last(requests.documents()), payload_bytes(requests.payload_bytes()) {}
};

std::optional<std::string_view> header_of(const kafka::PlainRecord& record, std::string_view name) {
  for (const Header& header : record.headers)
    if (header.name == name) return header.value.value_or("");
  return {};
}

std::string_view value_of(const kafka::PlainRecord& record, std::string_view name) {
  if (const auto value = header_of(record, name)) return *value;
  throw std::runtime_error("a record of " + std::string(record.topic) + " has no " + std::string(name));
}

Request request_of(const kafka::PlainRecord& record) {
  const std::string_view id = record.key.value_or("");
  return {number_in<std::uint64_t>(id.substr(std::min(id.size(), id.find('-') + 1))),
          number_in<std::uint32_t>(value_of(record, "reseq-seq"))};
}

// A commit is told before its markers are in all partitions, and a reader stops where they are missing.
void await_markers(const Site& site, const std::string& topic) {
  kafka::ClusterSettings settings;
  settings.connection = site.connection();
  settings.topics = {topic};
  settings.group_id = settings.transactional_id = topic + ".watcher";
  const auto cluster = test::good(kafka::open_cluster(settings));
  const auto reader = test::good(cluster->log_reader());
  const auto admin = test::good(kafka::Admin::open(settings.connection));
  std::vector<kafka::TopicPartition> partitions;
  for (const kafka::PlainOffset& one : test::good(admin->stable_ends(topic, kLimit)))
    partitions.push_back({kafka::TopicIndex(0), one.partition});
  const auto landed = [&] {
    const auto high = test::good(reader->high_watermarks(partitions, kLimit));
    const auto stable = test::good(admin->stable_ends(topic, kLimit));
    return std::equal(high.begin(), high.end(), stable.begin(), stable.end(),
                      [](const auto& end, const auto& readable) { return readable.offset >= end.offset; });
  };
  if (!test::wait_until(kMarkerLimit, landed)) throw std::runtime_error(topic + ": a transaction stays open");
}

void read_whole(const Site& site, const std::string& topic,
                const std::function<void(const kafka::PlainRecord&)>& visit) {
  await_markers(site, topic);
  test::read_all(site.connection(), topic, visit);
}

void look_at(const kafka::PlainRecord& record, Seen& seen) {
  const Request request = request_of(record);
  const std::string what = std::string(record.topic) + ": " + std::string(record.key.value_or("")) + " ";
  if (request.document >= seen.last.size()) throw std::runtime_error(what + "was never asked for");
  std::uint32_t& last = seen.last[request.document];
  if (request.sequence <= last)
    throw std::runtime_error(what + std::to_string(request.sequence) + " behind " + std::to_string(last));
  if (record.payload.value_or("") != payload_of(request, seen.payload_bytes))
    throw std::runtime_error(what + "has another payload");
  last = request.sequence;
  ++seen.records;
}

void check_last(const std::string& topic, const Seen& seen, const Requests& requests) {
  for (std::uint64_t document = 0; document < requests.documents(); ++document) {
    if (seen.last[document] == requests.last(document)) continue;
    throw std::runtime_error(topic + ": " + id_of(document) + " ends with " + std::to_string(seen.last[document]) +
                             " instead of " + std::to_string(requests.last(document)));
  }
}

void check_count(const std::string& topic, std::uint64_t have, std::uint64_t want) {
  if (have == want) return;
  throw std::runtime_error(topic + ": " + std::to_string(have) + " records instead of " + std::to_string(want));
}

}  // namespace

void check_work(const Application& application, const Requests& requests, Completeness completeness) {
  const std::string topic = application.topic("work");
  Seen seen(requests);
  read_whole(application.site(), topic, [&](const kafka::PlainRecord& record) { look_at(record, seen); });
  check_last(topic, seen, requests);
  if (completeness == Completeness::kEveryRequest) check_count(topic, seen.records, requests.all().size());
}

void check_attempts(const Application& application, const Requests& requests, const Failing& failing) {
  const std::string topic = application.topic("work");
  std::vector<std::uint32_t> attempts(requests.documents());
  read_whole(application.site(), topic, [&](const kafka::PlainRecord& record) {
    const Request request = request_of(record);
    const std::string_view said = header_of(record, "reseq-attempt").value_or("1");
    const std::string what = topic + ": " + id_of(request.document);
    if (request.document >= attempts.size()) throw std::runtime_error(what + " was never asked for");
    if (number_in<std::uint32_t>(said) != ++attempts[request.document])
      throw std::runtime_error(what + " has attempt " + std::string(said) + " instead of " +
                               std::to_string(attempts[request.document]));
    if (record.payload.value_or("") != payload_of(request, requests.payload_bytes()))
      throw std::runtime_error(what + " has another payload");
  });
  for (std::uint64_t document = 0; document < requests.documents(); ++document)
    check_count(topic + ": " + id_of(document), attempts[document], failing.includes(document) ? 2 : 1);
}

void check_outputs(const Application& application, const Requests& requests) {
  for (const char* target : {"search", "catalogue"}) {
    const std::string topic = application.topic(std::string("output.") + target);
    Seen seen(requests);
    read_whole(application.site(), topic, [&](const kafka::PlainRecord& record) {
      look_at(record, seen);
      if (number_in<std::uint64_t>(value_of(record, "reseq-version")) == 0)
        throw std::runtime_error(topic + ": a record has version 0");
    });
    check_last(topic, seen, requests);
    check_count(topic, seen.records, requests.documents());
  }
}

void check_every_version(const Application& application, const Requests& requests, const EveryVersion& expected) {
  std::vector<Request> all;
  for (const Request& one : requests.all())
    if (!expected.losing.includes(one.document)) all.push_back(one);
  for (const std::string& target : expected.targets) {
    const std::string topic = application.topic("output." + target);
    Seen seen(requests);
    std::vector<std::uint64_t> versions(requests.documents());
    read_whole(application.site(), topic, [&](const kafka::PlainRecord& record) {
      const std::uint64_t place = seen.records;
      look_at(record, seen);
      const Request request = request_of(record);
      const std::string what = topic + ": " + id_of(request.document) + " " + std::to_string(request.sequence);
      const bool is_next =
          expected.in_order == InOrder::kOfADocument ||
          (place < all.size() && all[place].document == request.document && all[place].sequence == request.sequence);
      if (!is_next) throw std::runtime_error(what + " is not the next one");
      if (!expected.numbered) return;
      const auto version = number_in<std::uint64_t>(value_of(record, "reseq-version"));
      if (version <= std::exchange(versions[request.document], version))
        throw std::runtime_error(what + " has a version that does not rise");
    });
    check_count(topic, seen.records, all.size());
  }
}

std::uint64_t documents_that_end_old(const Application& application, const Requests& requests) {
  const std::string topic = application.topic("output.search");
  std::vector<std::uint32_t> last(requests.documents());
  read_whole(application.site(), topic, [&](const kafka::PlainRecord& record) {
    const Request request = request_of(record);
    last.at(request.document) = request.sequence;
  });
  std::uint64_t old = 0;
  for (std::uint64_t document = 0; document < requests.documents(); ++document) {
    if (last[document] == 0) throw std::runtime_error(topic + ": " + id_of(document) + " is missing");
    if (last[document] != requests.last(document)) ++old;
  }
  return old;
}

void check_classes(const Application& application, const std::vector<kafka::PlainOffset>& since) {
  const std::string topic = application.topic("work");
  std::map<Partition, int> last;
  std::set<int> classes;
  read_whole(application.site(), topic, [&](const kafka::PlainRecord& record) {
    const auto begin =
        std::find_if(since.begin(), since.end(), [&](const auto& one) { return one.partition == record.partition; });
    if (begin != since.end() && record.offset < begin->offset) return;
    const int priority = number_in<int>(value_of(record, "reseq-priority"));
    int& before = last.try_emplace(record.partition, priority).first->second;
    if (priority < before)
      throw std::runtime_error(topic + ": priority " + std::to_string(priority) + " behind " + std::to_string(before));
    before = priority;
    classes.insert(priority);
  });
  check_count(topic + ": classes", classes.size(), kPriorities.size());
}

}  // namespace reseq::bench
