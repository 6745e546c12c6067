// The value of a result in a test: an error that nobody expects ends the test by an exception, with its message.
// Thread rule: plain function.
#pragma once

#include <stdexcept>
#include <utility>

#include "base/result.h"

namespace reseq::test {

template <typename T>
T good(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

}  // namespace reseq::test
