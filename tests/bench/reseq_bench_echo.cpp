// reseq-bench-echo: the fastest pipeline there is. Each work record comes back as one SEQUENCE per target with the same
// payload and all headers, without any work. Its CPU time is nobody's. SIGUSR1: without a limit from now on. With
// --fail-every N the first attempt of the first request of each Nth document fails instead, for all its targets. With
// --lose-every N --lose-burst B nobody answers for the first B of each N documents. With --reverse N it waits for N
// requests of a document and answers the last one first.
// Thread rule: one thread.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sysexits.h>
#include <thread>
#include <utility>
#include <vector>

#include "base/usage.h"
#include "codec/decimal.h"
#include "kafka/group_consumer.h"
#include "kafka/plain_producer.h"

namespace {

using namespace reseq;  // NOLINT(google-build-using-namespace): the words of this program

constexpr Milliseconds kIdlePoll{100};
constexpr Milliseconds kCallLimit{30'000};

volatile std::sig_atomic_t stop_requested = 0;
void request_stop(int) {
  stop_requested = 1;
}

volatile std::sig_atomic_t unlimited = 0;
void lift_limit(int) {
  unlimited = 1;
}

struct Options {
  std::string servers;
  std::string application;
  int per_second = 0;
  std::uint64_t fail_every = 0;
  std::uint64_t fail_below = UINT64_MAX;
  std::uint64_t lose_every = 0;
  std::uint64_t lose_burst = 0;
  std::uint64_t reverse = 1;
};

std::string_view value_of(const kafka::PlainRecord& work, std::string_view name) {
  for (const Header& header : work.headers)
    if (header.name == name) return header.value.value_or("");
  return {};
}

std::optional<std::uint64_t> document_of(const kafka::PlainRecord& work) {
  const std::string_view id = work.key.value_or("");
  return codec::parse_decimal<std::uint64_t>(id.substr(std::min(id.size(), id.find('-') + 1)));
}

bool is_lost(const kafka::PlainRecord& work, const Options& options) {
  if (options.lose_every == 0) return false;
  const auto number = document_of(work);
  return number && *number % options.lose_every < options.lose_burst;
}

bool fails(const kafka::PlainRecord& work, const Options& options) {
  if (options.fail_every == 0 || !value_of(work, "reseq-attempt").empty() || value_of(work, "reseq-seq") != "1")
    return false;
  const auto number = document_of(work);
  return number && *number < options.fail_below && *number % options.fail_every == 0;
}

Result<> fail(const kafka::PlainRecord& work, kafka::PlainProducer& producer, const std::string& commands) {
  std::vector<Header> headers(work.headers.begin(), work.headers.end());
  headers.insert(headers.end(), {{"reseq-command", "fail"},
                                 {"reseq-target", "*"},
                                 {"reseq-failure", "transient"},
                                 {"reseq-error", "the first attempt fails"}});
  return producer.send(commands, work.key, {}, headers);
}

Result<> answer(const kafka::PlainRecord& work, kafka::PlainProducer& producer, const std::string& commands) {
  std::vector<Header> headers(work.headers.begin(), work.headers.end());
  std::string_view targets = value_of(work, "reseq-targets");
  headers.push_back({"reseq-command", "sequence"});
  headers.push_back({"reseq-target", {}});
  while (!targets.empty()) {
    const std::size_t end = std::min(targets.find(','), targets.size());
    headers.back().value = targets.substr(0, end);
    if (auto sent = producer.send(commands, work.key, work.payload, headers); !sent) return sent;
    targets.remove_prefix(std::min(end + 1, targets.size()));
  }
  return Done{};
}

// So many a second at most; what was missed is not made up for.
class Pace {
 public:
  explicit Pace(int per_second)
      : pause_(per_second > 0 ? std::chrono::nanoseconds(1'000'000'000 / per_second) : kNone) {}
  void wait() {
    if (pause_ == kNone || unlimited != 0) return;
    due_ = std::max(due_ + pause_, std::chrono::steady_clock::now() - kSlack);
    std::this_thread::sleep_until(due_);
  }

 private:
  static constexpr std::chrono::nanoseconds kNone{0};
  static constexpr std::chrono::milliseconds kSlack{100};
  std::chrono::nanoseconds pause_;
  std::chrono::steady_clock::time_point due_;
};

// Requests until as many of their document are there as are answered together.
class Blocks {
 public:
  explicit Blocks(std::uint64_t size) : size_(std::max<std::uint64_t>(size, 1)) {}
  // The last one first; empty: some are to come.
  std::vector<kafka::PlainRecord> add(kafka::PlainRecord record) {
    std::vector<kafka::PlainRecord> whole;
    if (size_ == 1) {
      whole.push_back(std::move(record));
      return whole;
    }
    const std::string id(record.key.value_or(""));
    std::vector<kafka::PlainRecord>& block = blocks_[id];
    block.push_back(std::move(record));
    if (block.size() < size_) return whole;
    whole = std::move(block);
    blocks_.erase(id);
    std::reverse(whole.begin(), whole.end());
    return whole;
  }

 private:
  std::uint64_t size_;
  std::map<std::string, std::vector<kafka::PlainRecord>> blocks_;
};

Result<> run(const Options& options) {
  kafka::Connection connection;
  connection.bootstrap_servers = options.servers;
  connection.client_id = "bench-echo";
  auto consumer = kafka::GroupConsumer::open(connection);
  if (!consumer) return consumer.error();
  auto producer = kafka::PlainProducer::open(connection);
  if (!producer) return producer.error();
  if (auto assigned = consumer.value()->assign_all(options.application + ".work", {}, kCallLimit); !assigned)
    return assigned;
  const std::string commands = options.application + ".commands";
  Pace pace(options.per_second);
  Blocks blocks(options.reverse);
  while (stop_requested == 0) {
    auto work = consumer.value()->poll(kIdlePoll);
    if (!work) return work.error();
    if (work.value() && !is_lost(*work.value(), options)) {
      for (const kafka::PlainRecord& record : blocks.add(std::move(*work.value()))) {
        pace.wait();
        const auto answered = fails(record, options) ? fail(record, *producer.value(), commands)
                                                     : answer(record, *producer.value(), commands);
        if (!answered) return answered;
      }
    }
    producer.value()->poll(Milliseconds(0));
  }
  return producer.value()->flush(kCallLimit);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("A pipeline that answers at once", "reseq-bench-echo");
  app.add_option("--bootstrap-servers", options.servers, "host:port of brokers, comma separated")->required();
  app.add_option("--application", options.application, "prefix of the topics")->required();
  app.add_option("--per-second", options.per_second, "so many records at most (0: no limit)");
  app.add_option("--fail-every", options.fail_every, "the first attempt of each Nth document fails (0: none, 1: each)");
  app.add_option("--lose-every", options.lose_every, "of so many documents (0: none are lost)");
  app.add_option("--lose-burst", options.lose_burst, "the first ones get no answer");
  app.add_option("--reverse", options.reverse,
                 "so many requests of a document are answered from the last to the first");
  app.add_option("--fail-below", options.fail_below, "only of documents below this number");
  if (const auto code = parse(app, argc, argv)) return *code;
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, request_stop);
  std::signal(SIGUSR1, lift_limit);
  if (const auto done = run(options); !done) {
    std::fprintf(stderr, "reseq-bench-echo: %s\n", done.error().message.c_str());
    return EX_SOFTWARE;
  }
  return EX_OK;
}
