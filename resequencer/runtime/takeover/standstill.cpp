#include "runtime/takeover/standstill.h"

#include <array>

namespace reseq::runtime {

namespace {

struct ParkedWords {
  std::string_view name;
  std::string_view first_step;
};

constexpr std::array<ParkedWords, static_cast<std::size_t>(Parked::kCount)> kParked = {{
    {"state_folder", "do what the detail says, then restart this process"},
    {"changelog_empty",
     "stop all instances and keep their state.dir; put the records of the changelog back, or begin anew"},
    {"state_gone", "find out who emptied the changelog; restart this process to begin anew"},
    {"no_meta_row", "find out who emptied the changelog; put its records back, or begin anew"},
    {"changelog_unreadable",
     "find out who wrote to the changelog; upgrade if the record is of a newer version, or begin anew"},
    {"changelog_unfit", "find out who wrote to the changelog; begin anew"},
    {"offsets_moved", "stop all instances; `resequencer seek` accepts them (committed) or puts them back (standing)"},
    {"offsets_ahead", "stop all instances; `resequencer seek` accepts them (committed) or puts them back (standing)"},
    {"other_inputs", "start the version that wrote the state"},
    {"input_unreadable", "if retention deleted the records: stop all instances, then `resequencer seek` with begin"},
    {"input_replaced",
     "find out who replaced the topic; stop all instances, then name that input to `resequencer seek`: begin reads all "
     "of it, standing goes on behind its old position"},
    {"topic_grew", "keys moved away from their rows: begin anew with the new number of partitions"},
    {"keeps_aborting",
     "run `resequencer check`; remove what it or the detail names (a record too large, a topic that refuses), then "
     "restart this process"},
    {"identity", "correct the configuration as the detail says"},
    {"target_missing", "add the target that the detail names"},
    {"too_many_targets", "remove targets that were never used, or begin anew"},
}};

constexpr std::array<std::string_view, static_cast<std::size_t>(Waiting::kCount)> kWaiting = {
    "copy_unavailable", "copy_not_emptied", "committed_offsets", "changelog_ends", "changelog_read",
    "open_transaction", "offsets_ahead",    "clock_behind",      "first_offsets",  "input_read"};

}  // namespace

std::string_view name_of(Parked why) {
  return kParked[static_cast<std::size_t>(why)].name;
}

std::string_view first_step(Parked why) {
  return kParked[static_cast<std::size_t>(why)].first_step;
}

std::string_view name_of(Waiting what) {
  return kWaiting[static_cast<std::size_t>(what)];
}

}  // namespace reseq::runtime
