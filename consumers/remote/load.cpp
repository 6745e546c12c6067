#include "consumers/remote/load.h"

#include <utility>

#include "base/assert.h"

namespace reseq::remote {
namespace {

constexpr std::uint64_t kRecordOverhead = 512;  // objects around the bytes of a record, about

std::uint64_t bytes_of(const kafka::PlainRecord& record) {
  std::uint64_t bytes = kRecordOverhead;
  if (record.key) bytes += record.key->size();
  if (record.payload) bytes += record.payload->size();
  for (const Header& header : record.headers) bytes += header.name.size() + (header.value ? header.value->size() : 0);
  return bytes;
}

}  // namespace

LoadBuilder::LoadBuilder(Partition partition, Offset first, sink::Check check, std::string_view target,
                         Clock::time_point now)
    : check_(check), target_(target), load_(std::make_shared<Load>()) {
  load_->batch = {.partition = partition, .first = first, .next = first, .writes = {}};
  load_->check = check;
  load_->opened = now;
}

void LoadBuilder::add(kafka::PlainRecord record) {
  RESEQ_ASSERT(record.offset >= load_->batch.next, "a record that was passed already");
  load_->batch.next = Offset(record.offset.value() + 1);
  load_->bytes += bytes_of(record);
  ++load_->counts.records;
  const kafka::PlainRecord& kept = load_->records.emplace_back(std::move(record));
  const sink::Reading reading = sink::read_change(
      {.key = kept.key, .payload = kept.payload, .headers = {kept.headers.data(), kept.headers.size()}}, check_,
      target_);
  if (std::holds_alternative<sink::NotForUs>(reading))
    ++load_->counts.not_for_us;
  else if (const auto* malformed = std::get_if<sink::Malformed>(&reading))
    load_->letters.push_back({&kept, true, std::string(malformed->why)});
  else
    write(kept, std::get<sink::Change>(reading));
}

void LoadBuilder::write(const kafka::PlainRecord& record, const sink::Change& change) {
  const Write write{.change = change,
                    .headers = {record.headers.data(), record.headers.size()},
                    .offset = record.offset,
                    .timestamp = record.timestamp,
                    .record = &record};
  std::vector<Write>& writes = load_->batch.writes;
  const auto [place, is_new] = places_.emplace(change.id, writes.size());
  if (is_new) {
    writes.push_back(write);
    return;
  }
  ++load_->counts.outrun;
  // Without versions the last one wins.
  Write& before = writes[place->second];
  const bool is_outrun = check_ == sink::Check::kVersions && change.version <= before.change.version;
  load_->outrun.push_back(is_outrun ? write : before);
  if (!is_outrun) before = write;
}

std::vector<Write> take_outrun(Load& load, const std::unordered_set<std::string_view>& ids) {
  std::unordered_map<std::string_view, std::size_t> newest;  // place in outrun
  for (std::size_t i = 0; i < load.outrun.size(); ++i) {
    const sink::Change& change = load.outrun[i].change;
    if (!ids.contains(change.id)) continue;
    const auto [place, is_new] = newest.emplace(change.id, i);
    const bool is_newer = load.check == sink::Check::kOff || change.version > load.outrun[place->second].change.version;
    if (!is_new && is_newer) place->second = i;
  }
  std::vector<Write> taken;
  std::vector<Write> rest;
  for (std::size_t i = 0; i < load.outrun.size(); ++i) {
    const auto place = newest.find(load.outrun[i].change.id);
    (place != newest.end() && place->second == i ? taken : rest).push_back(load.outrun[i]);
  }
  load.outrun = std::move(rest);
  load.counts.outrun -= taken.size();
  return taken;
}

void LoadBuilder::reached(Offset next) {
  if (next > load_->batch.next) load_->batch.next = next;
}

}  // namespace reseq::remote
