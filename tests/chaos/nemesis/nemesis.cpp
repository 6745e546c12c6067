#include "tests/chaos/nemesis/nemesis.h"

#include <utility>

namespace reseq::chaos {

Nemesis::Nemesis(Chronicle& chronicle, std::vector<FaultKind> kinds, std::vector<Planned> schedule, Do harm)
    : chronicle_(chronicle), kinds_(std::move(kinds)), schedule_(std::move(schedule)), do_(std::move(harm)) {}

std::chrono::milliseconds Nemesis::passed() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_);
}

void Nemesis::step() {
  while (next_ < schedule_.size() && schedule_[next_].begin <= passed()) begin(schedule_[next_++]);
  for (auto one = running_.begin(); one != running_.end();) {
    one->harm.step();
    if (passed() < one->end && !one->harm.over()) {
      ++one;
      continue;
    }
    end(*one);
    one = running_.erase(one);
  }
}

void Nemesis::begin(const Planned& planned) {
  const FaultKind& kind = kinds_[planned.kind];
  simulation::Draw draw(planned.seed);
  Harm harm = do_(kind, draw);
  chronicle_.note("begin " + std::string(kind.name) + " " + harm.what);
  if (harm.impossible) {
    ++in_vain_;
    return;
  }
  std::vector<std::uint64_t> excuses;
  for (const Words& words : harm.excused) excuses.push_back(chronicle_.excuse(words));
  if (kind.between_clients_and_brokers) excuses.push_back(chronicle_.excuse({kLibraryError}));
  running_.push_back({&kind, std::move(harm), planned.end, std::move(excuses)});
}

void Nemesis::end(Running& running) {
  running.harm.heal();
  const bool acted = running.harm.acted();
  chronicle_.note("end   " + std::string(running.kind->name) + " " + running.harm.what + (acted ? "" : ": in vain"));
  for (const std::uint64_t excuse : running.excuses) chronicle_.end_excuse(excuse);
  if (!acted) {
    ++in_vain_;
    return;
  }
  ++faults_;
  ++by_kind_[running.kind->name];
}

void Nemesis::heal_all() {
  next_ = schedule_.size();
  for (Running& one : running_) end(one);
  running_.clear();
}

}  // namespace reseq::chaos
