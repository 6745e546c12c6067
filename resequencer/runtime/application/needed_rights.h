// Needed rights: the ACLs that an application has to have while it runs (docs/security.md has the same list), and what
// is said about one that is missing.
// Thread rule: pure functions.
#pragma once

#include <span>
#include <vector>

#include "kafka/rights.h"
#include "runtime/application/application.h"
#include "runtime/application/topic_rules.h"

namespace reseq::runtime {

// Topics that do not exist are left out: judge_topics() names them. Of transactional ids one that nobody has: only a
// grant of the prefix covers it.
[[nodiscard]] std::vector<kafka::Right> needed_rights(const Application& application, const TopicAnswers& answers);

// On the topics through which operators ask: without them nobody is answered, and all else works.
[[nodiscard]] std::vector<kafka::Right> admin_rights(const Application& application);

// The transactional ids of this process: a grant of each is enough, too.
[[nodiscard]] std::vector<kafka::Right> own_transactional_ids(const Application& application);

// One for each right that is missing, with the command that grants it, or that could not be found out.
[[nodiscard]] std::vector<Finding> judge_rights(const config::Settings& settings,
                                                std::span<const kafka::RightAnswer> answers);

}  // namespace reseq::runtime
