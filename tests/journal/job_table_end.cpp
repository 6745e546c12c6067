// The end of a batch: leases are lost, entries expire, then what may go is dispatched.
#include <algorithm>
#include <limits>

#include "tests/journal/job_table.h"

namespace reseq::journal {
namespace {

constexpr std::int64_t kBackOffMs = 1'000;
constexpr std::int64_t kBackOffMaxMs = 600'000;
constexpr std::int64_t kConsolidateMaxMs = 60'000;

// Of a document, the most urgent.
std::uint8_t priority_under_way(const DocumentJob& document) {
  std::uint8_t least = std::numeric_limits<std::uint8_t>::max();
  for (const UnderWay& dispatch : document.under_way) least = std::min(least, dispatch.urgency.priority);
  return least;
}

}  // namespace

Answer JobTable::play(const Batch& batch) {
  now_ = batch.now;
  answer_ = Answer();
  answer_.verdicts.resize(batch.inputs.size());
  for (DocumentJob& document : documents_) {
    document.lease_before = UnixMs(INT64_MAX);
    for (const UnderWay& dispatch : document.under_way)
      document.lease_before = std::min(document.lease_before, dispatch.lease_until);
  }
  for (input_ = 0; input_ < batch.inputs.size(); ++input_) {
    const Verdict verdict = decide(batch.inputs[input_]);
    answer_.verdicts[input_] = verdict;
  }
  lose_leases();
  expire_entries();
  fail_entries();
  dispatch_all();
  std::sort(answer_.timed_out.begin(), answer_.timed_out.end());
  count();
  for (DocumentJob& document : documents_)
    for (Waiting& entry : document.waiting) {
      entry.input.reset();
      entry.came_back = false;
    }
  return answer_;
}

std::vector<Pending> JobTable::pending() const {
  std::vector<Pending> all;
  for (std::size_t document = 0; document < kDocuments; ++document)
    for (const auto& [target, job] : documents_[document].targets)
      if (job.state == TargetState::kPending) all.push_back({document, job.newest, target, std::max(job.attempt, 1U)});
  return all;
}

void JobTable::count() {
  for (const DocumentJob& document : documents_) {
    answer_.waiting += document.waiting.empty() ? 0U : 1U;
    answer_.processing += document.under_way.empty() ? 0U : 1U;
    for (const auto& [target, job] : document.targets) answer_.failed += job.failed ? 1U : 0U;
  }
  answer_.down = down();
}

// Open: it is lost at the very end of it, not behind it.
bool JobTable::is_lost(const UnderWay& dispatch) const {
  return dispatch.lease_until <= now_;
}

// A command ended what was dispatched later: so somebody works.
bool JobTable::counts_loss(const UnderWay& dispatch) const {
  return answered_ > dispatch.number;
}

// Open: those that end in one batch are given back document by document, by the earliest lease that each had before the
// batch.
void JobTable::lose_leases() {
  std::vector<std::tuple<UnixMs, std::size_t>> documents;
  for (std::size_t i = 0; i < kDocuments; ++i) {
    documents.emplace_back(documents_[i].lease_before, i);
  }
  std::sort(documents.begin(), documents.end());
  for (const auto& [earliest, number] : documents) {
    const std::vector<UnderWay> under_way = documents_[number].under_way;
    std::erase_if(documents_[number].under_way, [this](const UnderWay& dispatch) { return is_lost(dispatch); });
    for (const UnderWay& dispatch : under_way)
      if (is_lost(dispatch)) come_back(number, dispatch);
  }
}

// The first time at once, then 1,000 ms, doubling. Open: both counters count for it. It is no wish: who takes the entry
// over does not take it over.
UnixMs JobTable::back_off(const Waiting& entry) const {
  const std::uint32_t times = entry.timeouts + entry.losses;
  if (entry.timeouts > rules_.timeouts_max) return UnixMs();  // it is not tried again
  if (is_stuck(entry)) return UnixMs(now_.value() + kBackOffMaxMs);
  if (times < 2) return UnixMs();
  std::int64_t wait = kBackOffMs;
  for (std::uint32_t i = 2; i < times && wait < kBackOffMaxMs; ++i) wait *= 2;
  return UnixMs(now_.value() + std::min(wait, kBackOffMaxMs));
}

void JobTable::come_back(std::size_t number, const UnderWay& lost) {
  const TargetSet may_be_done = gives_up_lost(lost);
  Waiting entry = again(lost, lost.targets.without(may_be_done));
  entry.timeouts += counts_loss(lost) ? 1U : 0U;
  entry.losses += counts_loss(lost) ? 0U : 1U;
  entry.retry_at = back_off(entry);
  give_to_newer(documents_[number], entry);
  wait_again(documents_[number], entry);
  give_up(documents_[number], lost, may_be_done, true);
}

Waiting JobTable::again(const UnderWay& ended, TargetSet targets) const {
  Waiting entry;
  entry.order = ended.order;
  entry.targets = targets;
  entry.attempt = ended.attempt;
  entry.urgency = ended.urgency;
  entry.urgency.consolidate_until = consolidated(ended.urgency.inserted);  // Open: as any other
  entry.timeouts = ended.timeouts;
  entry.losses = ended.losses;
  return entry;
}

// J2: what a newer one waits with stays pending until that is dispatched. Open: of leases that were lost each has its
// own.
void JobTable::give_to_newer(DocumentJob& document, Waiting& entry) const {
  for (Waiting& newer : document.waiting) {
    const TargetSet taken = newer.targets & entry.targets;
    if (newer.order <= entry.order || taken.empty()) continue;
    newer.urgency = merged(entry.urgency, newer.urgency);
    newer.took_over |= taken;
    entry.targets = entry.targets.without(taken);
  }
}

void JobTable::wait_again(DocumentJob& document, Waiting entry) {
  if (entry.targets.empty()) return;
  entry.number = ++last_number_;
  entry.came_back = true;
  document.waiting.push_back(entry);
}

// Its lease was lost too often while others ended. Open: it ends with the next batch, because its record has to be read
// again for the dead letter; what has expired by then is no dead letter.
bool JobTable::fails(const Waiting& entry) const {
  return (entry.given_up || entry.timeouts > rules_.timeouts_max) && !entry.came_back;
}

void JobTable::fail_entries() {
  for (std::size_t number = 0; number < kDocuments; ++number) {
    DocumentJob& document = documents_[number];
    const std::vector<Waiting> waiting = document.waiting;
    for (const Waiting& entry : waiting) {
      if (!fails(entry)) continue;
      answer_.timed_out.push_back({number, entry.order});
      for (auto& [target, job] : document.targets)
        if (entry.targets.contains(target) && job.newest == entry.order) {
          job.state = TargetState::kRemoved;
          job.failed = is_failed(entry);
          job.effect_unknown = entry.effect_unknown;
          if (!entry.given_up) job.failures.exhausted = true;  // nobody said that it is hopeless
        }
      settle(document, false);
    }
  }
}

bool JobTable::is_expired(const Waiting& entry) const {
  return entry.urgency.expires_at != UnixMs() && entry.urgency.expires_at <= now_;
}

void JobTable::expire_entries() {
  for (DocumentJob& document : documents_) {
    const std::vector<Waiting> waiting = document.waiting;
    for (const Waiting& entry : waiting)
      if (is_expired(entry) && !entry.came_back) drop(document, entry.order, entry.targets);
  }
}

std::size_t JobTable::documents_under_way() const {
  return static_cast<std::size_t>(std::count_if(documents_.begin(), documents_.end(),
                                                [](const DocumentJob& each) { return !each.under_way.empty(); }));
}

// Open: a document that is under way takes no further room.
bool JobTable::has_room(const DocumentJob& document) const {
  return documents_under_way() < rules_.in_flight_max || !document.under_way.empty();
}

// Open: consolidation moves the process date by which entries are in order, too.
// Open: 0 is not consolidated.
UnixMs JobTable::consolidated(UnixMs inserted) const {
  const std::int64_t wait = consolidate_ms();
  return wait == 0 ? UnixMs() : UnixMs(inserted.value() + wait);
}

// Open: "p99" is the least power of two, in milliseconds, that no more than one of a hundred reached, but not longer
// than a date may be ahead. Of more than 2,000 the older ones count for less; no history has so many.
std::int64_t JobTable::consolidate_ms() const {
  if (!rules_.consolidate_measured) return rules_.consolidate_ms;
  if (release_ms_.empty()) return 0;
  std::vector<std::int64_t> rising = release_ms_;
  std::sort(rising.begin(), rising.end());
  const std::int64_t longest = rising[(rising.size() * 99 + 99) / 100 - 1];
  std::int64_t wait = 1;
  while (wait <= longest) wait *= 2;
  return std::min({wait, kConsolidateMaxMs, rules_.process_at_max_ms});
}

UnixMs JobTable::due_date(const Waiting& entry) const {
  const UnixMs wished = std::max(entry.urgency.process_at, entry.retry_at);
  return std::max(wished, entry.urgency.consolidate_until);
}

// What is given up waits for no date.
bool JobTable::is_due(const Waiting& entry) const {
  return entry.given_up || entry.timeouts > rules_.timeouts_max || due_date(entry) <= now_;
}

bool JobTable::goes_before(const Waiting& a, const Waiting& b) const {
  const auto place = [this](const Waiting& each) {
    return std::tuple(is_stuck(each), each.urgency.priority, due_date(each), each.number);
  };
  return place(a) < place(b);
}

// J3
bool JobTable::is_blocked(const DocumentJob& document, const Waiting& entry) const {
  return rules_.one_at_a_time && std::any_of(document.under_way.begin(), document.under_way.end(),
                                             [&](const UnderWay& each) { return each.order < entry.order; });
}

// Nothing more urgent is under way, or due and not blocked. What came back in this batch is.
bool JobTable::may_idle(const Waiting& entry) const {
  for (const DocumentJob& document : documents_) {
    if (!document.under_way.empty() && priority_under_way(document) < entry.urgency.priority) return false;
    for (const Waiting& other : document.waiting)
      if (other.urgency.priority < entry.urgency.priority && is_due(other) && stays(other) != other.targets &&
          !is_blocked(document, other) && !is_stuck(other) && !is_expired(other))
        return false;
  }
  return true;
}

// The first that is due and not blocked. Open: what came back in this batch leaves with the next one, as its record
// has to be read again; and behind an idle one that has to wait nothing leaves, not even what is stuck.
std::optional<JobTable::Place> JobTable::next_to_dispatch() const {
  std::optional<Place> first;
  for (std::size_t i = 0; i < kDocuments; ++i) {
    const std::vector<Waiting>& waiting = documents_[i].waiting;
    for (std::size_t n = 0; n < waiting.size(); ++n) {
      const Waiting& entry = waiting[n];
      if (entry.came_back || !is_due(entry) || is_blocked(documents_[i], entry)) continue;
      if (stays(entry) == entry.targets) continue;
      if (!first || goes_before(entry, documents_[first->document].waiting[first->entry])) first = Place{i, n};
    }
  }
  return first;
}

void JobTable::dispatch_all() {
  while (const auto next = next_to_dispatch()) {
    std::vector<Waiting>& waiting = documents_[next->document].waiting;
    const Waiting entry = waiting[next->entry];
    if (!has_room(documents_[next->document])) return;
    if (entry.urgency.priority >= rules_.idle_from && !may_idle(entry)) return;
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(next->entry));
    dispatch(next->document, entry);
  }
}

// The order's next number. Open: attempts are known of what waits or is under way, so when nothing of an order is, they
// begin with 1 again.
std::uint32_t JobTable::next_attempt(const DocumentJob& document, const Waiting& entry) const {
  std::uint32_t last = entry.attempt;
  for (const Waiting& each : document.waiting)
    if (each.order == entry.order) last = std::max(last, each.attempt);
  for (const UnderWay& each : document.under_way)
    if (each.order == entry.order) last = std::max(last, each.attempt);
  return last + 1;
}

void JobTable::dispatch(std::size_t number, Waiting entry) {
  DocumentJob& document = documents_[number];
  narrow(document, entry);
  if (entry.targets.empty()) {  // Open: its barrier stands from its turn on, as if it had been dispatched.
    if (entry.deletes_all) raise_barrier(document, entry.order);
    settle(document, false);
    return;
  }
  // For targets that cannot be reached. Open: its next attempt is another one; what is under way for them goes on.
  Waiting behind = entry;
  behind.targets = stays(entry);
  behind.took_over = entry.took_over & behind.targets;
  behind.input.reset();
  if (behind.targets == entry.targets) {
    document.waiting.push_back(entry);
    settle(document, false);
    return;
  }
  entry.targets = entry.targets.without(behind.targets);
  const std::uint32_t attempt = next_attempt(document, entry);
  behind.attempt = attempt;
  move_to(document, entry.order, goes_on(entry.targets, behind.targets), attempt);
  document.dispatched.insert(entry.order);
  if (entry.deletes_all) raise_barrier(document, entry.order);
  const UnixMs until(now_.value() + rules_.lease_ms);
  document.under_way.push_back(
      {entry.order, entry.targets, ++last_number_, attempt, until, now_, entry.urgency, entry.timeouts, entry.losses});
  answer_.dispatched.push_back({number, entry.order, entry.targets, attempt, until});
  note_probe(entry.targets, last_number_);
  wait_again(document, behind);
  if (entry.input) answer_.verdicts[*entry.input] = {Outcome::kForwarded, Reason::kNone};
  settle(document, false);
}

}  // namespace reseq::journal
