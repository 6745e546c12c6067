// What the page may do where `http.page_operations` lets it: the same as `reprocess --state failed --error` and
// `resume --target`, with clients of its own.
// Thread rule: any thread.
#pragma once

#include "runtime/application/internals.h"

namespace reseq::cli {

[[nodiscard]] runtime::PageOperations page_operations();

}  // namespace reseq::cli
