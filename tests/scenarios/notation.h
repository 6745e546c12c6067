// Notation of scenarios: orders, targets, decisions and rows as text (README.md). What cannot be read throws
// std::invalid_argument: a scenario is part of the test.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <utility>

#include "engine/context.h"
#include "model/breaker.h"
#include "model/effects.h"

namespace reseq::scenarios {

inline constexpr std::array<std::string_view, 3> kTargets = {"search", "catalogue", "lake"};

struct WrittenOrder {
  std::optional<Epoch> epoch;
  Sequence sequence;
  Revision revision;
};

[[nodiscard]] std::uint64_t number_of(const std::string& text);
[[nodiscard]] WrittenOrder order_of(const std::string& text);
[[nodiscard]] TargetNumber target_of(const std::string& text);
[[nodiscard]] TargetSet targets_of(const std::string& text);
[[nodiscard]] Reason reason_of(const std::string& text);
// "key=value" -> both; a word without '=' is a key alone.
[[nodiscard]] std::pair<std::string, std::string> split(const std::string& word, char at = '=');
// One word of a `set` line that belongs into the context. False = not one of these.
[[nodiscard]] bool configure(engine::Context& context, const std::string& key, const std::string& value);

[[nodiscard]] std::string text_of(const Order& order);
[[nodiscard]] std::string text_of(TargetSet targets);
[[nodiscard]] std::string text_of(const Decision& decision, const Forward* forward);
[[nodiscard]] std::string text_of(const JournalEntry& entry);
[[nodiscard]] std::string text_of(const Row& row);
[[nodiscard]] std::string text_of(const std::vector<Breaker>& breakers);

}  // namespace reseq::scenarios
