// Forgetting deletes: a store that forgets them has to remember each for longer than its topic keeps an older result,
// or a replay could bring the document back.
// Thread rule: one thread.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "kafka/cluster.h"
#include "kafka/settings.h"

namespace reseq::remote {

// How long a topic keeps records. Absent: for ever, also where it is compacted only.
[[nodiscard]] std::optional<Milliseconds> retention_of(const kafka::TopicFacts& topic);

// The same, asked. `option`: what has to be longer, for the error.
[[nodiscard]] Result<std::optional<Milliseconds>> ask_retention(const kafka::Connection& connection,
                                                                const std::string& topic, const std::string& option);

// kInvalid: an older result can come after that time. `fix`: what to do.
[[nodiscard]] Result<> judge_forgetting(Milliseconds after, std::optional<Milliseconds> retention,
                                        const std::string& fix);

}  // namespace reseq::remote
