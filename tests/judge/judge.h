// Judge: reads everything that an application committed to a real cluster and tells what is wrong with it. No process
// of the application runs any more; nobody writes.
//
// It is right only about changelogs of which nothing was compacted or deleted: the whole past is decided again.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "engine/context.h"
#include "tests/judge/specification.h"

namespace reseq::judge {

struct Case {
  config::Settings settings;           // of any instance: how to reach the brokers, and what all instances share
  const engine::Gate* gate = nullptr;  // in front of `work`, as all instances had it
  // Of the stopped processes: runtime::instance_path(settings) of each, `<state.dir>/<application.id>/<instance.id>`.
  std::vector<std::string> instance_folders;
  // Folders of partitions in them that a fault damaged or replaced: nobody but their process, when it opens them again,
  // promises anything of what they hold. Wrong ones are counted and not judged.
  std::set<std::string> damaged_copies;
  // Every process ended by SIGTERM and with success: then one copy of each partition stands at the end of its
  // changelog.
  bool stopped_cleanly = true;
  // Where copies of copies are made; created and removed.
  std::string scratch_folder;
  // Open transactions end by themselves, at the latest after transaction.timeout and a round of the broker's sweep.
  Milliseconds patience{60'000};
};

struct Judgement {
  std::uint64_t records = 0;     // committed, in all topics of the application
  std::uint64_t batches = 0;     // decided again
  std::uint64_t unchanged = 0;   // requests whose targets had what they ask for
  std::uint64_t failed = 0;      // reports of workers that their work has failed
  std::uint64_t held = 0;        // results for ordered targets that came before their turn
  std::uint64_t skipped = 0;     // requests whose results those targets were not to wait for any more
  std::uint64_t copies = 0;      // on disk, compared row by row
  std::uint64_t distrusted = 0;  // copies that their process would not use: poisoned, or of another boot
  std::uint64_t excused = 0;     // damaged_copies that are wrong
  std::uint64_t violations = 0;
  std::vector<std::string> lines;  // what was found, with the records that show it
};

// An error: the brokers or a folder cannot be read; nothing is known then.
[[nodiscard]] Result<Judgement> judge(const Case& which, const Specification& specification);

}  // namespace reseq::judge
