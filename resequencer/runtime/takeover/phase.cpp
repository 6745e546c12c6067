#include "runtime/takeover/phase.h"

#include <array>

namespace reseq::runtime {

std::string_view name_of(Phase phase) {
  static constexpr std::array<std::string_view, 9> kNames = {"open",  "offsets", "high_watermark", "restore", "compare",
                                                             "birth", "ready",   "running",        "parked"};
  return kNames[static_cast<std::size_t>(phase)];
}

}  // namespace reseq::runtime
