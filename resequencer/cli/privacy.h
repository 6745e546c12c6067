// What keeps the memory and the files of this process to itself: passwords and documents are in both.
// Thread rule: call before any thread is started.
#pragma once

namespace reseq::cli {

// No core file, no debugger of another process of this user (PR_SET_DUMPABLE), and new files for this user alone.
void keep_private();

}  // namespace reseq::cli
