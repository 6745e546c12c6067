#include "tests/chaos/run/hunters.h"

namespace reseq::chaos {

namespace {

constexpr std::chrono::milliseconds kRestartAfter{100};
constexpr std::chrono::seconds kPatience{90};

}  // namespace

Hunters::Hunters(Scene scene, std::uint64_t kills)
    : scene_(scene), kills_(kills), hunts_(scene.crew.all(Job::kResequencer).size()) {
  for (Member* member : scene_.crew.all(Job::kResequencer)) member->process->set_restart_after(kRestartAfter);
  scene_.failpoints.want(kills);
}

void Hunters::step() {
  const auto members = scene_.crew.all(Job::kResequencer);
  const auto guests = scene_.crew.all(Job::kGuest);
  for (std::size_t i = 0; i < hunts_.size(); ++i) {
    if (hunts_[i]) hunts_[i]->step();
    if (hunts_[i] && !hunts_[i]->over()) continue;
    if (scene_.failpoints.deaths() != deaths_) {
      deaths_ = scene_.failpoints.deaths();
      death_at_ = Clock::now();
    }
    if (done()) return;
    if (auto point = scene_.failpoints.next())
      hunts_[i].emplace(scene_.failpoints, *std::move(point), *members[i],
                        HuntMeans{scene_.chronicle, *guests[i % guests.size()], scene_.cluster.proxy(),
                                  scene_.site.transactional_ids(members[i]->process->name()), scene_.crew.owned()},
                        scene_.draw);
  }
}

bool Hunters::done() const {
  return scene_.failpoints.fewest() >= kills_ || Clock::now() - death_at_ > kPatience;
}

void Hunters::end() {
  for (auto& hunt : hunts_)
    if (hunt && !hunt->over()) hunt->give_up();
  for (Member* member : scene_.crew.all(Job::kResequencer)) member->process->set_restart_after(std::chrono::seconds(1));
}

}  // namespace reseq::chaos
