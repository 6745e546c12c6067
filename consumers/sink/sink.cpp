#include "consumers/sink/sink.h"

#include <spdlog/spdlog.h>
#include <utility>
#include <vector>

#include "kafka/settings.h"

namespace reseq::sink {
namespace {

constexpr std::uint64_t kRejectionsLogged = 20;  // the store has all of them

}  // namespace

Sink::Sink(kafka::GroupConsumer& reader, Store& store, SinkOptions options)
    : reader_(reader), store_(store), options_(std::move(options)) {}

Result<> Sink::start(std::string_view topic, std::span<const kafka::PlainOffset> begins) {
  auto known = store_.positions();
  if (!known) return known.error();
  committed_ = std::move(known).value();

  std::vector<kafka::PlainOffset> from(begins.begin(), begins.end());
  for (kafka::PlainOffset& start : from) {
    const auto position = committed_.find(start.partition);
    if (position == committed_.end()) continue;
    if (position->second < start.offset)
      return Error{.what_to_do = ErrorClass::kInvalid,
                   .message = "partition " + std::to_string(start.partition.value()) + " was read up to offset " +
                              std::to_string(position->second.value()) + ", but the topic starts at " +
                              std::to_string(start.offset.value()) + ": releases are lost. Load into a new place"};
    start.offset = position->second;
  }
  return reader_.assign_all(topic, from, kafka::kBrokerAnswerLimit);
}

Result<> Sink::step(Milliseconds limit) {
  auto polled = reader_.poll(limit);
  if (!polled) return polled.error();
  Result<> moved = polled.value() ? take(*polled.value()) : follow_positions();
  if (!moved) return moved;
  return batch_is_due() ? commit() : Result<>(Done{});
}

// At the end of the log the reader has passed control records too: whoever waits for the end sees it reached.
Result<> Sink::follow_positions() {
  for (const kafka::PlainOffset& position : reader_.positions()) {
    if (position.offset == kNoOffset) continue;
    const auto known = committed_.find(position.partition);
    if (known != committed_.end() && position.offset <= known->second) continue;
    if (Result<> opened = open_batch(); !opened) return opened;
    moved_[position.partition] = position.offset;
  }
  return Done{};
}

Result<> Sink::open_batch() {
  if (batch_open_) return Done{};
  if (Result<> begun = store_.begin(); !begun) return begun;
  batch_open_ = true;
  batch_opened_ = Clock::now();
  return Done{};
}

Result<> Sink::take(const kafka::PlainRecord& record) {
  if (Result<> opened = open_batch(); !opened) return opened;
  if (Result<> written = write(record); !written) return written;
  ++counts_.records;
  ++batch_records_;
  batch_bytes_ += record.payload ? record.payload->size() : 0;
  moved_[record.partition] = Offset(record.offset.value() + 1);
  return Done{};
}

Result<> Sink::write(const kafka::PlainRecord& record) {
  const Reading reading = read_change(
      {.key = record.key, .payload = record.payload, .headers = {record.headers.data(), record.headers.size()}},
      options_.check, options_.target);
  if (std::holds_alternative<NotForUs>(reading)) {
    ++counts_.not_for_us;
    return Done{};
  }
  if (const auto* malformed = std::get_if<Malformed>(&reading)) return reject(record, malformed->why);
  Result<Applied> applied = store_.apply(std::get<Change>(reading));
  if (!applied) return applied.error();
  ++(applied.value() == Applied::kWritten ? counts_.written : counts_.not_newer);
  return Done{};
}

Result<> Sink::reject(const kafka::PlainRecord& record, std::string_view why) {
  if (++counts_.rejected <= kRejectionsLogged)
    spdlog::error("record=rejected partition={} offset={} why=\"{}\"", record.partition.value(), record.offset.value(),
                  why);
  return store_.reject(record.partition, record.offset, why);
}

bool Sink::batch_is_due() const {
  return batch_open_ && (batch_records_ >= options_.batch_records_max || batch_bytes_ >= options_.batch_bytes_max ||
                         Clock::now() - batch_opened_ >= options_.batch_time_max);
}

Result<> Sink::commit() {
  if (!batch_open_) return Done{};
  for (const auto& [partition, next] : moved_)
    if (Result<> set = store_.set_position(partition, next); !set) return set;
  if (Result<> committed = store_.commit(); !committed) return committed;
  for (const auto& [partition, next] : moved_) committed_[partition] = next;
  moved_.clear();
  batch_open_ = false;
  batch_records_ = 0;
  batch_bytes_ = 0;
  return Done{};
}

}  // namespace reseq::sink
