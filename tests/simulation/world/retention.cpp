#include "tests/simulation/world/retention.h"

#include <algorithm>
#include <string>
#include <variant>

#include "codec/keys.h"
#include "codec/rows.h"

namespace reseq::simulation {

namespace {

// So many batches may pass by what is old: its record has to be read first, and that fails at times.
constexpr std::ptrdiff_t kBatchesAtLeast = 50;
// Then it is left alone for so long.
constexpr std::int64_t kReadAgainMs = 60'000;

}  // namespace

// By the last batch that is committed.
Offset Retention::decided(Partition partition) {
  const Log& log = broker_.log({application_.topics.of(Role::kChangelog).value(), partition});
  for (auto entry = log.entries().rbegin(); entry != log.entries().rend(); ++entry) {
    const bool committed = entry->record && entry->fate == Fate::kCommitted && entry->offset < log.last_stable();
    if (!committed || entry->record->key != codec::meta_key()) continue;
    const auto decoded = codec::decode_meta(codec::meta_key(), entry->record->payload.value_or(""));
    for (const InputPosition& position : std::get<Meta>(decoded).positions)
      if (position.role == Role::kRequests) return position.next;
  }
  return Offset(0);
}

// The last one that was decided stays: a takeover compares it with what it was.
void Retention::take() {
  recorder_.read();
  const std::int64_t old = broker_.now().value() - scenario_.requests_retention_ms;
  for (std::int32_t p = 0; p < scenario_.partitions; ++p) {
    const Place place{application_.topics.of(Role::kRequests).value(), Partition(p)};
    const Offset end(decided(Partition(p)).value() - 1);
    Offset begin = broker_.log(place).begin();
    for (const Entry& entry : broker_.log(place).entries()) {
      if (entry.offset >= end || (entry.record && entry.record->timestamp.value() > old)) break;
      begin = Offset(entry.offset.value() + 1);
      if (entry.record) ++counters_["requests taken by retention"];
    }
    broker_.trim(place, begin);
  }
}

void Retention::look_at(Partition partition, const judge::ReplayedBatch& batch, judge::Verdict& verdict) {
  Seen& seen = seen_[partition];
  const judge::History::Log& log =
      recorder_.history().log({application_.topics.of(Role::kRequests).value(), partition});
  for (const Offset& one : batch.meta.gone) seen.gone.emplace(one, seen.batches.size());
  for (const judge::GivenUp& one : batch.given_up) {
    if (one.reason != Reason::kBodyGone) continue;
    const std::size_t place = log.at_or_behind(one.request);
    const auto unread = seen.unreadable.find(one.request);
    const std::int64_t put_off = unread == seen.unreadable.end() ? 0 : unread->second.value() + kReadAgainMs;
    const std::int64_t aged = std::max(log[place].timestamp.value() + scenario_.requests_retention_ms / 2, put_off);
    const auto decided = seen.batches.begin() + static_cast<std::ptrdiff_t>(seen.decided[one.request]);
    const auto missed = seen.batches.begin() + static_cast<std::ptrdiff_t>(seen.gone[one.request]);
    // In the batch that decided it nothing had passed by.
    const auto since =
        missed < decided ? 0 : std::count_if(decided, missed, [&](UnixMs now) { return now.value() >= aged; });
    const bool waited = !seen.dispatched.contains(one.request);
    ++counters_[waited ? "body gone while it waited" : "body gone after a lease"];
    if (waited && since >= kBatchesAtLeast && !scenario_.clocks_differ)
      verdict.add(judge::Check::kReplay,
                  one.id + ": what waited is gone, " + std::to_string(since) + " batches after half of the retention");
  }
  for (const judge::Dispatched& one : batch.dispatched) seen.dispatched.insert(one.request);
  for (const Offset& one : batch.meta.unreadable) seen.unreadable[one] = batch.meta.now;
  seen.batches.push_back(batch.meta.now);
  for (const judge::Decided& input : batch.inputs)
    if (input.role == Role::kRequests) seen.decided.emplace(input.record.offset, seen.batches.size());
}

}  // namespace reseq::simulation
