#include "demo/run/watch.h"

#include <charconv>
#include <utility>

#include "demo/run/connection.h"
#include "demo/run/topic_reader.h"

namespace reseq::demo {
namespace {

constexpr Milliseconds kAskLimit{30'000};
constexpr Milliseconds kWatchPoll{100};

Seen seen_of(const kafka::PlainRecord& record) {
  const std::string_view sequence = header_of(record, "reseq-seq");
  Seen seen{.micros = micros_now(), .request = request_number(record.key.value_or(std::string_view()), sequence)};
  std::from_chars(sequence.data(), sequence.data() + sequence.size(), seen.sequence);
  return seen;
}

}  // namespace

Result<std::unique_ptr<Watch>> Watch::start(const Settings& settings, const std::string& topic) {
  auto reader = kafka::GroupConsumer::open(connection_of(settings));
  if (!reader) return reader.error();
  if (Result<> assigned = reader.value()->assign_all(topic, {}, kAskLimit); !assigned) return assigned.error();
  std::unique_ptr<Watch> watch(new Watch(std::move(reader).value()));
  watch->thread_ = std::thread([watch = watch.get()] { watch->read(); });
  return watch;
}

void Watch::read() {
  while (!ending_.load()) {
    auto record = reader_->poll(kWatchPoll);
    if (!record) {
      read_ = record.error();
      return;
    }
    if (record.value()) seen_.push_back(seen_of(*record.value()));
  }
}

void Watch::stop() {
  ending_ = true;
  if (thread_.joinable()) thread_.join();
}

Result<std::vector<Seen>> Watch::end() {
  stop();
  if (!read_) return read_.error();
  return std::move(seen_);
}

}  // namespace reseq::demo
