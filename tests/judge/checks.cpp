#include "tests/judge/checks.h"

#include <algorithm>
#include <string>

#include "codec/header_names.h"
#include "engine/gate.h"

namespace reseq::judge {

namespace {

std::string at(Partition partition, const std::string& what) {
  return "partition " + std::to_string(partition.value()) + ": " + what;
}

std::string number(Offset offset) {
  return std::to_string(offset.value());
}

bool is_work(const Decided& input) {
  return input.role != Role::kControl;
}

// What a gate sends to another partition can be read when its transaction is committed, which is later than it says.
bool is_of_a_gate(const Record& record) {
  return header_of(record, codec::header::kControlId).value_or("").starts_with("gate-");
}

const History::Log& input_log(const runtime::Application& application, const History& history, Role role,
                              Partition partition) {
  return history.log({application.topics.of(role).value(), partition});
}

}  // namespace

Offset position_of(const Meta& meta, Role role) {
  for (const InputPosition& position : meta.positions)
    if (position.role == role) return position.next;
  return kNoOffset;
}

void check_versions(const runtime::Application& application, const History& history, Verdict& verdict) {
  for (std::size_t i = 0; i < application.settings.targets.size(); ++i) {
    const std::size_t topic = application.topics.output(i).value();
    for (auto one = history.logs().lower_bound({topic, Partition(0)});
         one != history.logs().end() && one->first.topic == topic; ++one) {
      std::uint64_t last = 0;
      for (std::size_t r = 0; r < one->second.size(); ++r) {
        const Record record = one->second[r];
        const std::uint64_t version = number_of(record, codec::header::kVersion);
        if (version <= last)
          verdict.add(Check::kVersions, "version " + std::to_string(version) + " follows " + std::to_string(last) +
                                            ": " + told(application, history, {one->first, record.offset}));
        last = version;
      }
    }
  }
}

Fold check_fold(const runtime::Application& application, const History& history, Partition partition,
                Verdict& verdict) {
  Fold fold;
  const Place place{application.topics.of(Role::kChangelog).value(), partition};
  const History::Log& log = history.log(place);
  for (std::size_t i = 0; i < log.size(); ++i) {
    const std::string wrong = fold.take(log[i]);
    if (!wrong.empty()) verdict.add(Check::kFold, wrong + ": " + told(application, history, {place, log.offset(i)}));
  }
  return fold;
}

void check_nothing_waits(Partition partition, const Fold& fold, Verdict& verdict) {
  const Counts& counts = fold.summary().counts;
  if (counts.any_rare())
    verdict.add(Check::kEnd, at(partition, std::to_string(counts[Count::kHeldRecords]) + " held records, " +
                                               std::to_string(counts[Count::kHeldPieces]) + " pieces and " +
                                               std::to_string(counts[Count::kTasks]) + " tasks are left, and " +
                                               std::to_string(counts[Count::kPlaces]) + " places in lanes"));
}

void check_timers(const runtime::Application& application, const History& history, Partition partition,
                  const ReplayedBatch& batch, Verdict& verdict) {
  const auto check = [&](const std::string& what, Role role, UnixMs deadline) {
    const History::Log& log = input_log(application, history, role, partition);
    std::size_t unread = log.at_or_behind(position_of(batch.meta, role));
    while (unread < log.size() && is_of_a_gate(log[unread])) ++unread;
    if (unread < log.size() && log[unread].timestamp < deadline)
      verdict.add(Check::kTimers, at(partition, what + " ahead of offset " + number(log.offset(unread)) + " of " +
                                                    application.topics.name(application.topics.of(role)) +
                                                    ", which stood in the log at its deadline"));
  };
  for (const Fired& fired : batch.fired)
    for (const Role role : runtime::kInputs) check("the timer of " + fired.id + " fired", role, fired.deadline);
  for (const AgendaDone& done : batch.done) {
    const engine::AgendaKind& kind = runtime::kind_of(application, done.kind);
    const std::string what = "the turn of " + std::string(kind.name) + " was taken";
    if (kind.fence.requests) check(what, Role::kRequests, done.until);
    if (kind.fence.control) check(what, Role::kControl, done.until);
    if (kind.fence.commands) check(what, Role::kCommands, done.until);
  }
}

void check_offsets(const runtime::Application& application, const std::map<Place, Offset>& committed,
                   const std::vector<Fold>& states, Verdict& verdict) {
  for (std::size_t p = 0; p < states.size(); ++p) {
    if (!states[p].meta()) continue;  // told by the replay
    for (const Role role : runtime::kInputs) {
      const Place place{application.topics.of(role).value(), Partition(static_cast<std::int32_t>(p))};
      const auto found = committed.find(place);
      const Offset offset = found == committed.end() ? kNoOffset : found->second;
      const Offset stands = position_of(*states[p].meta(), role);
      if (offset != stands)
        verdict.add(Check::kOffsets, at(place.partition, "the group committed " + number(offset) + " of " +
                                                             application.topics.names()[place.topic] +
                                                             ", the last meta row says " + number(stands)));
    }
  }
}

void Tiles::wrong(const std::string& what) {
  verdict_.add(Check::kTiles, at(partition_, what));
}

void Tiles::take(const ReplayedBatch& batch) {
  if (batch.birth) {
    take_birth(batch.meta);
  } else {
    follow(batch);
  }
  before_ = batch.meta;
  before_at_ = batch.at;
}

void Tiles::take_birth(const Meta& meta) {
  if (application_.settings.first_start != "begin") return;
  for (const Role role : runtime::kInputs) {
    const History::Log& log = input_log(application_, history_, role, partition_);
    if (!log.empty() && log.offset(0) < position_of(meta, role))
      wrong("inputs never decided: it was born at " + number(position_of(meta, role)) + ", behind offset " +
            number(log.offset(0)) + " of " + application_.topics.name(application_.topics.of(role)));
  }
}

void Tiles::follow(const ReplayedBatch& batch) {
  const Meta& meta = batch.meta;
  const std::string which = "the batch with the meta row at " + number(batch.at);
  if (meta.ranges.size() != runtime::kInputs.size()) wrong(which + " lacks ranges");
  for (const InputRange& range : meta.ranges) {
    const Offset expected = position_of(*before_, range.role);
    if (range.first != expected || range.end != position_of(meta, range.role) || range.end < range.first)
      wrong("inputs decided twice or never: " + which + " has [" + number(range.first) + ", " + number(range.end) +
            ") of " + application_.topics.name(application_.topics.of(range.role)) + " behind " + number(expected));
  }
  if (before_->state.paused && std::any_of(batch.inputs.begin(), batch.inputs.end(), is_work))
    wrong("decided while it was paused: " + which);
  if (meta.lineage.empty() || before_->lineage.empty()) return wrong(which + " or the one before has no generation");
  const Generation& mine = meta.lineage.back();
  const Generation& last = before_->lineage.back();
  if (mine == last) return;
  if (mine.number != last.number + 1)
    return wrong(which + " is of generation " + std::to_string(mine.number) + ", the one before of " +
                 std::to_string(last.number));
  if (mine.restore_target <= before_at_ || mine.restore_target > batch.first)
    wrong(which + " is the first of generation " + std::to_string(mine.number) + ", which restored up to " +
          number(mine.restore_target) + ": the meta row before it is at " + number(before_at_));
}

void Tiles::finish() {
  if (!before_) return;  // told by the replay
  for (const Role role : runtime::kInputs) {
    const History::Log& log = input_log(application_, history_, role, partition_);
    const std::size_t left = log.at_or_behind(position_of(*before_, role));
    if (left >= log.size()) continue;
    const Place place{application_.topics.of(role).value(), partition_};
    wrong(std::to_string(log.size() - left) + " inputs were never decided, the first is " +
          told(application_, history_, {place, log.offset(left)}));
  }
}

}  // namespace reseq::judge
