// Dead letters go back to where they came from. A record that is sent again is an input like any other: it has to
// match, and order rules hold.
// Thread rule: main thread.
#pragma once

#include <vector>

#include "cli/ask.h"
#include "cli/dead_letter.h"

namespace reseq::cli {

struct RedriveOptions {
  bool dry_run = false;
  bool old = false;  // also requests and REGISTERs that were written watermark_retention_ms ago
  View view = View::kTable;
};
// Writes inputs again, as they came, to the topics that they came from: those named, or with no names all that fit.
// kInvalid: one of them cannot be sent again, and nothing is sent then: its payload was left out; it came from another
// topic; it would be refused again; it is a request or a REGISTER that might undo newer ones, because those may be
// forgotten, or a request without an epoch, and the default epoch was raised. kTimeout: not all are acknowledged, none
// is printed.
Result<> redrive(const config::Settings& settings, const std::vector<LetterPlace>& places, const LetterFilter& filter,
                 const RedriveOptions& options);

}  // namespace reseq::cli
