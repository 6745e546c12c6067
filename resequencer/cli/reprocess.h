// What an operator writes where producers write: a request once more, to be processed again, and RESET. The right to
// write `requests` is what allows it.
// Thread rule: main thread.
#pragma once

#include <cstdint>
#include <string>

#include "cli/operations.h"

namespace reseq::cli {

// kInvalid: this application can reprocess nothing.
[[nodiscard]] Result<> check_reprocess(const config::Settings& settings);
// Reads the newest request of the document from `requests` and writes it again with `reseq-reprocess`; waits until its
// new revision is known. If a newer request has come meanwhile it is superseded, and nothing is lost. kInvalid: the
// document or its request is not known or not kept any more.
Result<> reprocess(const config::Settings& settings, const std::string& id, const OperationOptions& options);

// Writes a RESET to each partition of `requests`: their default epoch becomes at least this one. kTimeout: it is
// written, and not all partitions have said within the time-out that they have it.
Result<> reset(const config::Settings& settings, std::uint32_t epoch, const OperationOptions& options);

}  // namespace reseq::cli
