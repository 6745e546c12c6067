#include "tests/simulation/world/operators.h"

#include <algorithm>
#include <vector>

#include "codec/hash.h"
#include "codec/header_names.h"
#include "config/rules.h"

namespace reseq::simulation {

namespace header = codec::header;

namespace {

constexpr std::uint64_t kOwnDraw = 0x6f70657261746f72;  // any number: their draws are not those of the world
constexpr std::uint64_t kAheadMs = 20'000;
constexpr std::uint64_t kSkippedOf = 2;  // the last ones: most that are older are waited for no more

bool is_whole_result(const StoredRecord& letter) {
  const std::string* command = header_of(letter, header::kCommand);
  return letter.key && command != nullptr && *command == "sequence" && header_of(letter, header::kSeq) != nullptr &&
         header_of(letter, header::kPayloadOmitted) == nullptr &&
         header_of(letter, header::kHeadersOmitted) == nullptr && header_of(letter, header::kKeyOmitted) == nullptr;
}

}  // namespace

Operators::Operators(const Scenario& scenario, Broker& broker, Counters& counters, std::uint64_t seed)
    : scenario_(scenario),
      broker_(broker),
      counters_(counters),
      draw_(seed ^ kOwnDraw),
      letters_(*broker.topic("app.dead-letter")),
      work_(*broker.topic("app.work")),
      control_(*broker.topic("app.control")) {
  if (draw_.chance(300)) per_mille_ = draw_.chance(500) ? 10 : 60;
}

void Operators::tick() {
  if (draw_.chance(per_mille_)) write();
}

void Operators::resume_all() {
  if (per_mille_ == 0) return;
  for (std::int32_t p = 0; p < scenario_.partitions; ++p) {
    StoredRecord record = operation("resume", Partition(p));
    set_header(record, header::kControlPartition, std::to_string(p));
    remove_header(record, header::kControlDryRun);
    append(Partition(p), record);
  }
}

void Operators::resume_target(Partition partition, const std::string& target) {
  StoredRecord record = operation("resume-target", partition);
  set_header(record, header::kControlPartition, std::to_string(partition.value()));
  remove_header(record, header::kControlDryRun);
  set_header(record, header::kTarget, target);
  append(partition, record);
}

void Operators::write() {
  const std::uint64_t what = draw_.below(100);
  if (what < 35) return expire();
  if (what < 60) return release();
  if (what < (scenario_.lanes ? 65U : 75U)) return raise_floor();
  if (what < 79 && scenario_.lanes) return skip();
  if (what < 79 && scenario_.outages) return resume_target(any_partition(), scenario_.settings.targets.front().name);
  pause(any_partition(), what < 87);
}

void Operators::expire() {
  const std::string id = "document-" + std::to_string(draw_.below(scenario_.documents + 1));  // the last is nobody's
  const Partition partition = codec::partition_of(id, Partitioner::kMurmur2, scenario_.partitions);
  StoredRecord record = operation("expire", partition);
  record.key = id;
  add_target(record, 400);
  add_expected(record);
  append(partition, record);
}

// One of the last that went to work, as somebody would who has seen what a target waits for; now and then another one.
void Operators::skip() {
  const Partition partition = any_partition();
  std::vector<const StoredRecord*> sent;
  const Log& log = broker_.log({work_, partition});
  for (const Entry* entry = log.next_committed(log.begin()); entry != nullptr;
       entry = log.next_committed(Offset(entry->offset.value() + 1)))
    sent.push_back(&*entry->record);
  if (sent.empty()) return;
  const StoredRecord& work = *sent[sent.size() - 1 - draw_.below(std::min<std::uint64_t>(sent.size(), kSkippedOf))];
  StoredRecord record = operation("skip", partition);
  record.key = work.key;
  for (const std::string_view name : {header::kSeq, header::kEpoch, header::kRevision})
    if (const std::string* said = header_of(work, name)) set_header(record, name, *said);
  if (draw_.chance(100)) set_header(record, header::kSeq, std::to_string(1 + draw_.below(10)));
  if (draw_.chance(50)) remove_header(record, draw_.chance(500) ? header::kSeq : header::kEpoch);
  const auto& targets = scenario_.settings.targets;
  const auto ordered = std::find_if(targets.rbegin(), targets.rend(), config::is_ordered);
  set_header(record, header::kTarget, ordered->name);
  add_target(record, 200);
  append(partition, record);
}

// One of the dead letters, as somebody would who has looked at it.
void Operators::release() {
  const Partition partition = any_partition();
  std::vector<const StoredRecord*> results;
  const Log& log = broker_.log({letters_, partition});
  for (const Entry* entry = log.next_committed(log.begin()); entry != nullptr;
       entry = log.next_committed(Offset(entry->offset.value() + 1)))
    if (is_whole_result(*entry->record)) results.push_back(&*entry->record);
  if (results.empty()) return;
  StoredRecord record = *results[draw_.below(results.size())];
  for (const std::string_view name :
       {header::kCommand, header::kReason, header::kSourceTopic, header::kSourcePartition, header::kSourceOffset,
        header::kExpectedSeq, header::kFirstWritten, header::kTargets})
    remove_header(record, name);
  for (const StoredHeader& one : operation("release", partition).headers) set_header(record, one.name, one.value);
  if (draw_.chance(500)) set_header(record, header::kControlUnknown, "true");
  add_expected(record);
  append(partition, record);
}

void Operators::raise_floor() {
  const Partition partition = any_partition();
  StoredRecord record = operation("raise-version-floor", partition);
  const std::uint64_t ms = static_cast<std::uint64_t>(broker_.now().value()) + draw_.below(kAheadMs);
  set_header(record, header::kVersion,
             std::to_string(draw_.chance(50) ? ~std::uint64_t{0} >> 1U : ms << kVersionCounterBits));
  if (draw_.chance(200)) set_header(record, header::kControlExpectedVersion, "0");
  add_target(record, 400);
  append(partition, record);
}

void Operators::pause(Partition partition, bool paused) {
  append(partition, operation(paused ? "pause" : "resume", partition));
}

void Operators::add_target(StoredRecord& record, std::uint32_t per_mille) {
  const auto& targets = scenario_.settings.targets;
  if (draw_.chance(per_mille)) set_header(record, header::kTarget, targets[draw_.below(targets.size())].name);
}

void Operators::add_expected(StoredRecord& record) {
  if (!draw_.chance(300)) return;
  set_header(record, header::kControlExpectedSeq, std::to_string(1 + draw_.below(10)));
  if (draw_.chance(300)) set_header(record, header::kControlExpectedEpoch, std::to_string(draw_.below(3)));
}

StoredRecord Operators::operation(const std::string& name, Partition partition) {
  StoredRecord record;
  set_header(record, header::kControl, name);
  set_header(record, header::kControlId, "operation-" + std::to_string(++operations_));
  const std::int32_t named = draw_.chance(30) ? partition.value() + 1 : partition.value();
  set_header(record, header::kControlPartition, std::to_string(named));
  if (draw_.chance(150)) set_header(record, header::kControlDryRun, "true");
  return record;
}

// What is written twice changes nothing the second time.
void Operators::append(Partition partition, const StoredRecord& record) {
  for (int times = draw_.chance(150) ? 2 : 1; times > 0; --times) {
    StoredRecord written = record;
    written.timestamp = broker_.now();
    broker_.append({control_, partition}, std::move(written));
    ++counters_["inputs written to control"];
  }
}

Partition Operators::any_partition() {
  return Partition(static_cast<std::int32_t>(draw_.below(static_cast<std::uint64_t>(scenario_.partitions))));
}

}  // namespace reseq::simulation
