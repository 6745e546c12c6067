// Guards: the precautions whose need is shown by leaving one out (docs/testing.md, "Guards by absence"). Each is a
// branch in the code that ships; nothing but tests sets one to false.
// Thread rule: plain values.
#pragma once

namespace reseq {

struct Guards {
  bool offsets_in_every_transaction = true;  // off: only those that changed (an idle zombie is not fenced)
  bool high_watermark = true;                // off: a restore ends at the last stable offset
  bool requests_first = true;                // off: a miss is final at once
  bool timers_behind_input = true;           // off: timers fire although inputs wait to be read
  bool served_bits_in_watermarks = true;     // off: completed rows forget what they released
  bool barrier = true;                       // off: a delete for all targets leaves no barrier
  bool group_metadata_of_assignment = true;  // off: fetched when offsets are sent
  bool membership_required = true;           // off: offsets are sent without a membership when there is none
  bool clock_restored = true;                // off: a takeover begins with the clock of its host
  bool tombstone_horizon = true;             // off: an old copy is caught up, however old it is
  bool pinned_inputs = true;                 // off: an input that was made anew is read from the old position
  bool recycle_on_doubt = true;              // off: a producer goes on although a call of it may still arrive
};

}  // namespace reseq
