#include "tests/chaos/nemesis/nemesis.h"

#include <utility>

namespace reseq::chaos {

Nemesis::Nemesis(Scene scene, std::vector<FaultKind> kinds, std::vector<Planned> schedule)
    : scene_(scene), kinds_(std::move(kinds)), schedule_(std::move(schedule)) {}

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
  Scene scene{scene_.chronicle, scene_.crew, scene_.cluster, scene_.site, scene_.failpoints, draw, scene_.rest};
  Harm harm = kind.begin(scene);
  scene_.chronicle.note("begin " + std::string(kind.name) + " " + harm.what);
  ++faults_;
  ++by_kind_[kind.name];
  std::vector<std::uint64_t> excuses;
  for (const Words& words : harm.excused) excuses.push_back(scene_.chronicle.excuse(words));
  if (kind.between_clients_and_brokers) excuses.push_back(scene_.chronicle.excuse({kLibraryError}));
  running_.push_back({&kind, std::move(harm), planned.end, std::move(excuses)});
}

void Nemesis::end(Running& running) {
  running.harm.heal();
  scene_.chronicle.note("end   " + std::string(running.kind->name) + " " + running.harm.what);
  for (const std::uint64_t excuse : running.excuses) scene_.chronicle.end_excuse(excuse);
}

void Nemesis::heal_all() {
  next_ = schedule_.size();
  for (Running& one : running_) end(one);
  running_.clear();
}

}  // namespace reseq::chaos
