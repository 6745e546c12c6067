// Words in which a worker says what kind of failure it met, and whose fault that is (schemas/wire.md): headers of
// `fail` and members of a line of a stage are the same.
// Thread rule: pure functions.
#pragma once

#include <optional>
#include <string_view>

#include "model/command.h"

namespace reseq::codec {

// None: it is no such word.
[[nodiscard]] std::optional<FailureKind> failure_kind(std::string_view word);
[[nodiscard]] std::optional<FailureScope> failure_scope(std::string_view word);
[[nodiscard]] std::string_view name_of(FailureKind kind);
[[nodiscard]] std::string_view name_of(FailureScope scope);

}  // namespace reseq::codec
