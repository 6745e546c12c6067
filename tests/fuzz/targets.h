// The targets of the fuzzers: each takes bytes that nobody vouches for through one part of the product and asserts what
// must hold for all of them (RESEQ_ASSERT ends the process). libfuzzer/ makes a program of each, replay/ plays the
// corpus through all of them in the ordinary test run.
// Thread rule: one thread.
#pragma once

#include <array>
#include <string_view>

namespace reseq::fuzz {

void fuzz_command(std::string_view input);     // headers of a record -> command or reason
void fuzz_output(std::string_view input);      // what is written for such a record: work, outputs, dead letters, events
void fuzz_row(std::string_view input);         // rows of documents, meta, identity, target table
void fuzz_held(std::string_view input);        // rows of what waits: held records, their pieces, tasks
void fuzz_index(std::string_view input);       // keys of index entries, beside those of timers
void fuzz_key(std::string_view input);         // keys of rows
void fuzz_sequence(std::string_view input);    // sequences between text and bytes, targets by name
void fuzz_state_note(std::string_view input);  // checkpoint record; clean mark, boot note, owner of a state folder
void fuzz_config(std::string_view input);      // configuration file
void fuzz_log(std::string_view input);         // outside text on its way into a log line
void fuzz_line(std::string_view input);        // lines of JSON of producers, stages and sinks
void fuzz_query(std::string_view input);       // queries of the admin topic

struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
};
inline constexpr std::array<Target, 12> kTargets = {{{"command", fuzz_command},
                                                     {"output", fuzz_output},
                                                     {"row", fuzz_row},
                                                     {"held", fuzz_held},
                                                     {"index", fuzz_index},
                                                     {"key", fuzz_key},
                                                     {"sequence", fuzz_sequence},
                                                     {"state_note", fuzz_state_note},
                                                     {"config", fuzz_config},
                                                     {"log", fuzz_log},
                                                     {"line", fuzz_line},
                                                     {"query", fuzz_query}}};

}  // namespace reseq::fuzz
