// The demo of the journal: the history as a backfill, and its last hundred commits as live edits in the middle of it,
// while processes of the pipeline are killed and stand still. It is played twice with the same load and the same
// accidents, with dispatch.mode = journal and with immediate.
// Thread rule: one thread.
#pragma once

#include <csignal>

#include "base/result.h"
#include "demo/run/journal_numbers.h"
#include "demo/run/settings.h"

namespace reseq::demo {

// An error means that there is no answer: a process died, Kafka is gone, a signal came (kAbort).
Result<JournalNumbers> run_journal_demo(const Settings& settings, const volatile std::sig_atomic_t& stop);

}  // namespace reseq::demo
