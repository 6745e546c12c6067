// What the dead-letter topic holds: how many letters for which reason and of which age, and those of one document.
// Nothing indexes it: it is read from its newest letters on, as far as there is time.
// Thread rule: one thread; it opens clients of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admin/document_json.h"
#include "base/result.h"
#include "model/command.h"
#include "runtime/application/application.h"
#include "runtime/application/newest_first.h"

namespace reseq::runtime {

// Of letters with one reason.
struct ReasonCount {
  std::int64_t letters = 0;
  UnixMs oldest;
  UnixMs newest;
};

class LetterCounts {
 public:
  void add(const std::string& reason, UnixMs written);
  [[nodiscard]] const std::map<std::string, ReasonCount>& by_reason() const { return by_reason_; }
  // An array: {"reason", "letters", "oldest", "newest"}, the most frequent reason first.
  [[nodiscard]] admin::Json json() const;

 private:
  std::map<std::string, ReasonCount> by_reason_;
};

struct LetterSurvey {
  LetterCounts counts;
  bool whole = true;  // false: there was no time for all partitions, or for the newest of one
};
// Of each partition the newest 20,000 offsets, the newest thousand of all first, as far as `time_max` suffices.
[[nodiscard]] Result<LetterSurvey> survey_letters(const Application& application, Milliseconds time_max,
                                                  const std::atomic<bool>& stop);

// A key in another partition than it belongs to, which is the trouble of a client's partitioner.
struct Misplaced {
  Partition belongs_to;
  std::optional<Partitioner> placed_by;  // the partitioner that puts it where it was; nothing: none that is known
};
// Nothing: it is where it belongs, or nobody can say.
[[nodiscard]] std::optional<Misplaced> misplaced(std::string_view key, Partition at, Partitioner partitioner,
                                                 std::int32_t partitions);
// What to do about it.
[[nodiscard]] std::string fix_of(const Misplaced& misplaced, Partitioner partitioner);

struct PastLetter {
  std::string place;  // PARTITION:OFFSET, as `dead-letter show` takes it
  UnixMs at;
  std::string reason;
  std::string source;                         // of the input, as topic[partition]@offset
  std::optional<Partition> source_partition;  // of a record that is placed by its key
};
[[nodiscard]] PastLetter letter_of(const kafka::Record& record);

struct LetterHistory {
  std::vector<PastLetter> letters;  // newest first
  std::int64_t others = 0;          // that were read as well and are older
  Unread unread;
};
// The newest of those with this key.
[[nodiscard]] Result<LetterHistory> read_letters_of(const Application& application, const std::string& id,
                                                    std::size_t letters_max, Milliseconds time_max, const GoOn& go_on);
// For a program: of a misrouted one also {"belongs_to", "fix"}. `id`: its key; `partitions`: of the inputs.
[[nodiscard]] admin::Json letter_json(const PastLetter& letter, std::string_view id, Partitioner partitioner,
                                      std::int32_t partitions);

}  // namespace reseq::runtime
