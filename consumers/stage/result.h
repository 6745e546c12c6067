// Result: what a pipeline answers to a record of `work`, and the headers it is sent with.
// Every header of the work record is copied, known or not, `reseq-*` or not; only those that the answer itself sets are
// replaced. Without that contract the resequencer could not add a header later without breaking every pipeline.
// Thread rule: plain values, pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/command.h"
#include "model/header.h"
#include "model/ids.h"

namespace reseq::stage {

enum class Answer : unsigned char {
  kSequence,    // the result for one target
  kRegister,    // this order has to reach further targets
  kUnregister,  // nothing will come for these targets
  kFail,        // the work could not be done for these targets (docs/failures.md)
};

// What is said of work that could not be done. Without a word: of this document, and nobody knows why, nor what was
// done of it.
struct WorkFailure {
  FailureKind kind = FailureKind::kUnknown;
  FailureScope scope = FailureScope::kDocument;
  std::string error{};          // for people; only the first kMaxErrorBytes are sent, up to the end of a character
  bool without_effect = false;  // nothing was done of it: only then a potent target is tried again
};

struct OwnedHeader {
  std::string name;
  std::optional<std::string> value;
};

// A copy: what a record shows ends with the next poll.
[[nodiscard]] inline std::optional<std::string> owned_bytes(const std::optional<std::string_view>& bytes) {
  if (!bytes) return std::nullopt;
  return std::string(*bytes);
}

// One record to send to `commands`. Its key is the key of the work record.
struct StageResult {
  Answer answer = Answer::kSequence;
  // One target; kUnregister and kFail also "*", kRegister a comma list. Empty: of a kFail "*", all that the record was
  // sent to `work` for and that have no result; else no header is set, which the resequencer accepts of a SEQUENCE when
  // the application has exactly one target.
  std::string target{};
  std::optional<Op> op{};                // absent: the op of the work record stays
  std::optional<std::string> payload{};  // absent = null, as a delete has
  std::optional<Version> observed{};     // highest version that the computation has read
  std::vector<OwnedHeader> headers{};    // added; each replaces all of its name
  WorkFailure failure{};                 // kFail
};

// The headers of a result: those of the work record in their order, less the replaced ones, then the result's own.
[[nodiscard]] std::vector<OwnedHeader> result_headers(std::span<const OwnedHeader> work, const StageResult& result);

// The targets that the work record lists: those that have to get a result. None: it lists none.
[[nodiscard]] std::vector<std::string> targets_of(std::span<const OwnedHeader> work);

// All answers to a record but those for targets that it does not list, nor one of the answers registers. Work that is
// tried again lists only the targets that are still to be done, and a worker may answer for all that it knows.
[[nodiscard]] std::vector<StageResult> asked_for(std::span<const OwnedHeader> work, std::vector<StageResult> answers);

// Last value of that name, as Kafka's lastHeader. Outer empty: no such header; inner empty: its value is null.
[[nodiscard]] std::optional<std::optional<std::string>> last_header(std::span<const OwnedHeader> headers,
                                                                    std::string_view name);

// The same headers; they live as long as those.
[[nodiscard]] std::vector<Header> views_of(std::span<const OwnedHeader> headers);

}  // namespace reseq::stage
