// What an ordered target waits for, of one document: what `skip` names when an operator does not.
// Thread rule: main thread.
#pragma once

#include <cstdint>
#include <string>

#include "admin/json_text.h"
#include "base/result.h"
#include "cli/ask.h"
#include "config/settings.h"

namespace reseq::cli {

struct WaitedFor {
  std::int32_t partition = 0;
  admin::Json head;  // of the lane (schemas/admin.replies.schema.json, `lane_head`)
};

// kInvalid: nothing of this document is what its lane waits for; the message says what it waits for instead.
// `document`: as an instance tells it.
[[nodiscard]] Result<admin::Json> waited_for_in(const admin::Json& document, const std::string& id,
                                                const std::string& target);
// Asks the instances. kTimeout: nobody answers for the partition of the document.
[[nodiscard]] Result<WaitedFor> waited_for(const config::Settings& settings, const std::string& id,
                                           const std::string& target, const AskOptions& options);

}  // namespace reseq::cli
