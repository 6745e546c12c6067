// Where libFuzzer enters: one target per program (docs/testing.md, "Fuzzers").
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t bytes) {
  reseq::fuzz::RESEQ_FUZZ_TARGET({reinterpret_cast<const char*>(input), bytes});
  return 0;
}
