#include "tests/chaos/nemesis/faults.h"

namespace reseq::chaos {

const std::vector<FaultKind>& fault_kinds() {
  static const std::vector<FaultKind> kKinds = [] {
    std::vector<FaultKind> all;
    for (const auto& part : {process_faults(), host_faults(), broker_faults(), network_faults(), operator_faults()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kKinds;
}

Harm nothing(const std::string& why) {
  return {.what = "nothing: " + why, .impossible = true};
}

Member& any_resequencer(Scene& scene) {
  const auto all = scene.crew.all(Job::kResequencer);
  return *all[scene.draw.below(all.size())];
}

}  // namespace reseq::chaos
