#include "tests/simulation/world/checks.h"

#include <algorithm>
#include <charconv>

#include "codec/header_names.h"
#include "runtime/partition_task.h"
#include "tests/simulation/world/record.h"

namespace reseq::simulation {

namespace {

Offset position_of(const Meta& meta, Role role) {
  for (const InputPosition& position : meta.positions)
    if (position.role == role) return position.next;
  return kNoOffset;
}

std::string at(Partition partition, const std::string& what) {
  return "partition " + std::to_string(partition.value()) + ": " + what;
}

std::string number(Offset offset) {
  return std::to_string(offset.value());
}

}  // namespace

std::string check_tiles(const runtime::Application& application, const History& history, Partition partition,
                        const Replay& replay) {
  if (replay.batches().empty()) return at(partition, "never born");
  const Meta* before = &replay.batches().front().meta;
  for (std::size_t i = 1; i < replay.batches().size(); ++i) {
    const Meta& meta = replay.batches()[i].meta;
    if (meta.ranges.size() != runtime::kInputs.size()) return at(partition, "a meta row lacks ranges");
    for (const InputRange& range : meta.ranges) {
      const Offset expected = position_of(*before, range.role);
      if (range.first != expected || range.end != position_of(meta, range.role))
        return at(partition, "inputs decided twice or never: batch " + std::to_string(i) + " has [" +
                                 number(range.first) + ", " + number(range.end) + ") behind " + number(expected));
    }
    before = &meta;
  }
  for (const Role role : runtime::kInputs) {
    const auto& log = history.log({application.topics.of(role).value(), partition});
    if (!log.empty() && log.back().offset >= position_of(*before, role))
      return at(partition, "an input was never decided");
  }
  return {};
}

std::string check_versions(const runtime::Application& application, const History& history) {
  for (std::size_t i = 0; i < application.settings.targets.size(); ++i)
    for (std::int32_t p = 0; p < application.partitions; ++p) {
      std::uint64_t last = 0;
      for (const Kept& kept : history.log({application.topics.output(i).value(), Partition(p)})) {
        const std::string* text = header_of(*kept.record, codec::header::kVersion);
        std::uint64_t version = 0;
        if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), version);
        if (version <= last)
          return at(Partition(p), "version " + std::to_string(version) + " of target " +
                                      application.settings.targets[i].name + " follows " + std::to_string(last));
        last = version;
      }
    }
  return {};
}

namespace {

std::string fold(store::PartitionStore& folded, Offset at, const StoredRecord& record) {
  const auto value = record.payload ? std::optional<std::string_view>(*record.payload) : std::nullopt;
  const auto restored = folded.restore({*record.key, value}, at);
  return restored ? "" : "the changelog cannot be folded: " + restored.error().message;
}

std::string compare(const store::PartitionStore& folded, const store::PartitionStore& owned) {
  if (!folded.meta() || folded.meta() != owned.meta()) return "the owner's meta row is not that of the changelog";
  const store::Summary& summary = folded.summary();
  const Meta& meta = *folded.meta();
  if (summary.digest != meta.digest || summary.live_rows != meta.live_rows || summary.watermarks != meta.watermarks)
    return "the changelog does not fold to the digest of its meta row";
  if (summary.digest != owned.summary().digest || summary.live_rows != owned.summary().live_rows ||
      summary.watermarks != owned.summary().watermarks)
    return "the changelog does not fold to the state of the owner";
  if (owned.fault()) return "the owner's state has a fault: " + owned.fault()->message;
  return "";
}

}  // namespace

std::string check_fold(const runtime::Application& application, Broker& broker, const History& history,
                       const runtime::PartitionTask& owner) {
  const Place place{application.topics.of(Role::kChangelog).value(), owner.partition()};
  store::PartitionStore whole;
  for (const Kept& kept : history.log(place))
    if (const auto wrong = fold(whole, kept.offset, *kept.record); !wrong.empty()) return at(owner.partition(), wrong);
  if (const auto wrong = compare(whole, owner.store()); !wrong.empty()) return at(owner.partition(), wrong);
  store::PartitionStore left;
  Offset next = broker.log(place).begin();
  while (const Entry* entry = broker.log(place).next_committed(next)) {
    if (const auto wrong = fold(left, entry->offset, *entry->record); !wrong.empty())
      return at(owner.partition(), wrong);
    next = Offset(entry->offset.value() + 1);
  }
  if (const auto wrong = compare(left, owner.store()); !wrong.empty())
    return at(owner.partition(), "after compaction " + wrong);
  return {};
}

std::string check_timers(const runtime::Application& application, const History& history, Partition partition,
                         const Replay& replay) {
  for (const ReplayedBatch& batch : replay.batches())
    for (const Fired& fired : batch.fired)
      for (const Role role : runtime::kInputs) {
        const auto& log = history.log({application.topics.of(role).value(), partition});
        const auto unread = std::lower_bound(log.begin(), log.end(), position_of(batch.meta, role),
                                             [](const Kept& kept, Offset wanted) { return kept.offset < wanted; });
        if (unread != log.end() && unread->record->timestamp < fired.deadline)
          return at(partition, "the timer of " + fired.id + " fired ahead of offset " + number(unread->offset) +
                                   ", which stood in the log at its deadline");
      }
  return {};
}

std::string check_produced(const runtime::Application& application, const History& history, Produced& produced) {
  for (std::size_t topic = 0; topic < produced.size(); ++topic) {
    const kafka::TopicIndex index(static_cast<std::uint16_t>(topic));
    bool input = index == application.topics.of(Role::kChangelog);
    for (const Role role : runtime::kInputs) input = input || index == application.topics.of(role);
    if (input) continue;
    std::vector<std::string> committed;
    for (std::int32_t p = 0; p < application.partitions; ++p)
      for (const Kept& kept : history.log({topic, Partition(p)})) committed.push_back(comparable(*kept.record));
    std::sort(committed.begin(), committed.end());
    std::sort(produced[topic].begin(), produced[topic].end());
    if (committed == produced[topic]) continue;
    const auto [one, other] =
        std::mismatch(committed.begin(), committed.end(), produced[topic].begin(), produced[topic].end());
    return application.topics.name(index) + " holds " + std::to_string(committed.size()) + " records, decided again " +
           std::to_string(produced[topic].size()) + "; committed " + (one == committed.end() ? "nothing" : *one) +
           ", again " + (other == produced[topic].end() ? "nothing" : *other);
  }
  return {};
}

}  // namespace reseq::simulation
