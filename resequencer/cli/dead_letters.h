// Dead letters on a terminal: which there are, and one of them whole.
// Thread rule: main thread.
#pragma once

#include "cli/ask.h"
#include "cli/dead_letter.h"

namespace reseq::cli {

// The newest that fit, oldest first.
Result<> list_dead_letters(const config::Settings& settings, const LetterFilter& filter, View view);
Result<> show_dead_letter(const config::Settings& settings, const LetterPlace& place, View view);

}  // namespace reseq::cli
