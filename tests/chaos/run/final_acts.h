// Final acts: what people and retention do to the topics and the group of an application, one by one, when it has come
// to rest and was judged. Each says what docs/recovery.md promises of it: the word, nothing written, copies as they
// were; and takes the way back that the page names.
// Thread rule: one thread.
#pragma once

#include <string_view>
#include <vector>

#include "tests/chaos/run/aftermath.h"

namespace reseq::chaos {

struct FinalAct {
  std::string_view name;
  std::string_view meaning;  // one sentence
  void (*play)(Aftermath& after) = nullptr;
  std::vector<std::string_view> parks = {};  // reasons that it excuses
};

// In the order in which they are played: who comes later needs less of what was there before.
[[nodiscard]] const std::vector<FinalAct>& final_acts();

}  // namespace reseq::chaos
