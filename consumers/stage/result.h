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
  // kSequence, kUnregister: one target; kUnregister also "*". kRegister: a comma list. Empty: no header is set, which
  // the resequencer accepts of a SEQUENCE when the application has exactly one target.
  std::string target{};
  std::optional<Op> op{};                // absent: the op of the work record stays
  std::optional<std::string> payload{};  // absent = null, as a delete has
  std::optional<Version> observed{};     // highest version that the computation has read
  std::vector<OwnedHeader> headers{};    // added; each replaces all of its name
};

// The headers of a result: those of the work record in their order, less the replaced ones, then the result's own.
[[nodiscard]] std::vector<OwnedHeader> result_headers(std::span<const OwnedHeader> work, const StageResult& result);

// Last value of that name, as Kafka's lastHeader. Outer empty: no such header; inner empty: its value is null.
[[nodiscard]] std::optional<std::optional<std::string>> last_header(std::span<const OwnedHeader> headers,
                                                                    std::string_view name);

// The same headers; they live as long as those.
[[nodiscard]] std::vector<Header> views_of(std::span<const OwnedHeader> headers);

}  // namespace reseq::stage
