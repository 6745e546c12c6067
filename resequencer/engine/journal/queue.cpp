#include "engine/journal/queue.h"

#include <algorithm>

#include "base/assert.h"
#include "base/big_endian.h"

namespace reseq::engine {
namespace {

constexpr std::size_t kTargetsBytes = sizeof(std::uint64_t);
constexpr Pieces kOfTurn = {64, 1024};  // most need no more than the first

bool is_earlier(const Candidate& a, const Candidate& b) {
  return a.rank < b.rank;
}

// The least set of targets that something waits for, of at least this one.
std::optional<TargetSet> next_targets(const StateView& view, TargetSet from) {
  std::optional<TargetSet> next;
  view.index(kTargetsIndex, encode_targets_rank(from, {}), 1, [&](std::string_view entry, std::string_view) {
    next = decode_targets_rank(entry).first;
    return true;
  });
  return next;
}

}  // namespace

std::string encode_targets_rank(TargetSet targets, const Rank& rank) {
  std::string bytes;
  append_big_endian(targets.bits(), bytes);
  return bytes + encode_rank(rank);
}

std::pair<TargetSet, Rank> decode_targets_rank(std::string_view bytes) {
  RESEQ_ASSERT(bytes.size() > kTargetsBytes, "an entry of the index by targets that has none");
  return {TargetSet(read_big_endian(bytes)), decode_rank(bytes.substr(kTargetsBytes))};
}

Rank first_behind(std::uint16_t urgency) {
  return {static_cast<std::uint16_t>(urgency + 1), UnixMs(), 0};
}

const Rank* Run::first() {
  if (next_ == ranks_.size() && !ended_) read();
  return next_ < ranks_.size() ? &ranks_[next_] : nullptr;
}

void Run::skip_to(const Rank& rank) {
  while (next_ < ranks_.size() && ranks_[next_] < rank) ++next_;
  if (next_ == ranks_.size() && !ended_ && from_ < rank) from_ = rank;
}

void Run::read() {
  ranks_.clear();
  next_ = 0;
  const std::size_t most = std::exchange(most_, further_);
  std::size_t seen = 0;
  if (!targets_) {
    view_->index(kDispatchIndex, encode_rank(from_), most, [&](std::string_view entry, std::string_view) {
      ranks_.push_back(decode_rank(entry));
      return ++seen < most;
    });
  } else {
    view_->index(kTargetsIndex, encode_targets_rank(*targets_, from_), most,
                 [&](std::string_view entry, std::string_view) {
                   const auto [targets, rank] = decode_targets_rank(entry);
                   if (targets != *targets_) return false;
                   ranks_.push_back(rank);
                   return ++seen < most;
                 });
  }
  ended_ = seen < most;
  if (!ranks_.empty()) from_ = {ranks_.back().urgency, ranks_.back().process_at, ranks_.back().number + 1};
}

std::vector<Run> runs_of(const StateView& view, Pieces pieces) {
  std::vector<Run> runs;
  runs.emplace_back(view, std::nullopt, pieces);
  for (auto targets = next_targets(view, {}); targets; targets = next_targets(view, TargetSet(targets->bits() + 1))) {
    runs.emplace_back(view, *targets, pieces);
    if (targets->bits() == UINT64_MAX) break;
  }
  return runs;
}

Queue::Queue(const StateView& view, const Overlay& overlay, const DispatchRules& rules) {
  if (view.summary().counts[Count::kWaiting] > 0) runs_ = runs_of(view, kOfTurn);
  for (const auto& [document, before] : overlay.journaled()) {
    if (!document->changed || !document->now.row) continue;
    changed_.push_back(document);
    for (const JournalEntry& entry : document->now.row->journal)
      if (entry.state == EntryState::kWaiting) own_.push_back({rank_of(entry, rules), document});
  }
  std::sort(changed_.begin(), changed_.end());
  if (!std::is_sorted(own_.begin(), own_.end(), is_earlier)) std::sort(own_.begin(), own_.end(), is_earlier);
}

// What is given up has no targets there.
void Queue::block(TargetSet targets) {
  if (targets.empty()) return;
  std::erase_if(runs_, [&](const Run& run) {
    return run.targets() && !run.targets()->empty() && targets.covers(*run.targets());
  });
}

std::optional<Candidate> Queue::next() {
  Run* earliest = nullptr;
  for (Run& run : runs_) {
    const Rank* const rank = run.first();
    if (rank != nullptr && (earliest == nullptr || *rank < *earliest->first())) earliest = &run;
  }
  const Rank* const other = earliest != nullptr ? earliest->first() : nullptr;
  const bool own = next_own_ < own_.size() && (other == nullptr || own_[next_own_].rank <= *other);
  if (!own && other == nullptr) return std::nullopt;
  const Candidate found = own ? own_[next_own_++] : Candidate{*other, nullptr, earliest->targets().has_value()};
  if (other != nullptr && *other == found.rank) earliest->drop_first();
  return found;
}

void Queue::skip(std::uint16_t urgency) {
  const Rank behind = first_behind(urgency);
  for (Run& run : runs_) run.skip_to(behind);
  while (next_own_ < own_.size() && own_[next_own_].rank < behind) ++next_own_;
}

bool Queue::has_changed(const Document* document) const {
  return std::binary_search(changed_.begin(), changed_.end(), document);
}

}  // namespace reseq::engine
