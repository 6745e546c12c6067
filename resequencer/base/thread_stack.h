// Where a thread of this process stands, for whoever has to find out what it waits for.
// Thread rule: one thread at a time, and not the one that is asked about.
#pragma once

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace reseq {

// The calls on its stack, the innermost first, as OBJECT(NAME+OFFSET) [ADDRESS]. Names are those that a library
// exports: of librdkafka its API, of a program none (addr2line knows them). Empty: it does not answer within `limit`,
// because it is in the kernel and cannot be interrupted there. Takes SIGUSR2 for itself, and what the thread was
// doing may come back early: only for a process that is about to end.
[[nodiscard]] std::vector<std::string> stack_of(std::thread::native_handle_type thread,
                                                std::chrono::milliseconds limit);

}  // namespace reseq
