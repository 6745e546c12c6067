// What a command answers when what it was told to do cannot be done.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace reseq::cli {

// Asked again without a change it would be refused again. `text`: one line that names the way out.
[[nodiscard]] inline Error invalid(std::string text) {
  return {ErrorClass::kInvalid, 0, std::move(text)};
}

}  // namespace reseq::cli
