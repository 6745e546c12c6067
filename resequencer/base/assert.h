// RESEQ_ASSERT: on in release as well. An assertion that fails is a bug of ours, so the process ends before the bug can
// reach a log that others read.
// Thread rule: any thread.
#pragma once

namespace reseq {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line, const char* meaning);

}  // namespace reseq

#define RESEQ_ASSERT(condition, meaning)                                  \
  do {                                                                    \
    if (!(condition)) [[unlikely]]                                        \
      ::reseq::assertion_failed(#condition, __FILE__, __LINE__, meaning); \
  } while (false)
