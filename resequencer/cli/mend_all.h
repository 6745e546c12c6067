// expire and reprocess for all documents of a selection, page by page, at a limited rate.
// Thread rule: one thread.
#pragma once

#include "cli/operations.h"
#include "cli/selection.h"

namespace reseq::cli {

// Each prints how many documents of which partition it was done for, and how many were left out for which reason. A dry
// run counts what it would do. stderr tells of the progress, and from where another run can go on. kTimeout: partitions
// that nobody answers for were left out, or what was written is not confirmed. kInvalid: what was asked for cannot be.
//
// A document that gets a newer request after it was listed is left alone.
Result<> expire_all(const config::Settings& settings, const Selection& selection, const OperationOptions& options);
// A target that waits for an older request than the newest one cannot be helped: such documents are left out, and those
// in paused partitions.
Result<> reprocess_all(const config::Settings& settings, const Selection& selection, const OperationOptions& options);

}  // namespace reseq::cli
