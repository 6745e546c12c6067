// Result<T>: what a call into the world returns. An Error answers the one question its caller has: what to do next.
// Thread rule: plain value.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace reseq {

// What the caller must do, in the order of triage.
enum class ErrorClass : unsigned char {
  kFatal,      // the client object is unusable: destroy it and build a new one
  kAbort,      // the running transaction must be aborted, then the batch is read again
  kRetriable,  // the same call with the same arguments may succeed
  kTimeout,    // nothing is known yet: ask again; never means "done" or "none"
  kFenced,     // another instance owns this identity: recycle once, park when it happens again soon
  kInvalid,    // wrong input or configuration: retrying cannot help
};

struct Error {
  ErrorClass what_to_do = ErrorClass::kFatal;
  int code = 0;         // of the library that reported it, 0 if none
  std::string message;  // one line, for a person
};

struct Done {};

template <typename T = Done>
class [[nodiscard]] Result {
 public:
  Result(const T& value) : state_(std::in_place_index<0>, value) {}          // NOLINT(google-explicit-constructor)
  Result(T&& value) : state_(std::in_place_index<0>, std::move(value)) {}    // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok()
  [[nodiscard]] T& value() & {
    RESEQ_ASSERT(ok(), "value of a failed result");
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const& {
    RESEQ_ASSERT(ok(), "value of a failed result");
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && {
    RESEQ_ASSERT(ok(), "value of a failed result");
    return std::move(*std::get_if<0>(&state_));
  }

  // REQUIRES: !ok()
  [[nodiscard]] const Error& error() const {
    RESEQ_ASSERT(!ok(), "error of a good result");
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

}  // namespace reseq
