// Plan: what producers write, as a function of a seed and the number of a request. Nothing is remembered of a run:
// producers that start again write the same bytes under the same number, and the judge learns from the number that a
// record carries (header x-number) what it asked for.
//
// Number n belongs to producer n % producers and is the (n / producers)-th of its stream. Each document belongs to one
// producer, so its requests stand in its partition in the order of their numbers. A sequence is made of the place in
// the stream, within the document's epoch: it rises with gaps, and leaves room for requests that come late.
//
//   next        the next request of a document: hot ones again and again, new ones all the time, cold ones now and then
//   late        a request under a sequence that the document has left behind
//   again       an earlier request once more, soon or long after it, byte by byte
//   reprocess   an earlier request once more, with `reseq-reprocess`
//   changed     another edit under the sequence of an earlier request
//   reset       RESET on each partition; documents without an epoch of their own go on in the next default epoch
//   bad         a record of which nothing can be used
//
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "model/ids.h"
#include "model/reason.h"
#include "producers/tagging/tagged_record.h"
#include "tests/judge/specification.h"

namespace reseq::chaos {

using Number = Strong<struct NumberTag, std::uint64_t>;

// The contract says that these headers travel.
inline constexpr std::string_view kNumber = "x-number";
inline constexpr std::string_view kExpectedReason =
    "x-expected-reason";  // the reason that the dead letter of this record must have

inline constexpr std::uint64_t kPayloadBytesMax = (1U << 20) - 1;

struct PlanSettings {
  std::uint64_t seed = 1;
  std::uint32_t producers = 3;
  std::int32_t partitions = 4;  // of requests
  bool journal = false;         // some requests are more urgent than others, and some are for idle times
};

// The targets of the application: two by default, and one that only some documents have.
[[nodiscard]] std::vector<config::Target> targets();
// What the workload needs in the configuration of the application: the targets, as TOML. Nothing may stand behind it
// that belongs in front of the first table, and starvation_after_ms has to be 0.
[[nodiscard]] std::string targets_toml();

enum class Kind : std::uint8_t { kNext, kLate, kAgain, kReprocess, kChanged, kReset, kBad };

struct PlannedRecord {
  bool to_control = false;               // else to requests
  std::optional<Partition> partition{};  // absent: by the key
  std::optional<std::string> key{};      // absent = null
  std::optional<std::string> payload{};  // absent = null
  std::vector<tagging::RecordHeader> headers{};
};

class Plan {
 public:
  explicit Plan(const PlanSettings& settings);

  [[nodiscard]] const PlanSettings& settings() const { return settings_; }
  [[nodiscard]] Number number(std::uint32_t producer, std::uint64_t place) const;

  [[nodiscard]] Kind kind(Number number) const { return drawn(number).kind; }
  // What is written under that number: one record, of a RESET one for each partition.
  [[nodiscard]] std::vector<PlannedRecord> records(Number number) const;
  // What the request asked for; its payload is that of its results. None: it is bad or a RESET.
  [[nodiscard]] std::optional<judge::Asked> asked(Number number) const;

 private:
  struct Drawn {
    Kind kind = Kind::kNext;
    Number source;  // of again, reprocess and changed: the request that they repeat
  };
  struct Document;

  [[nodiscard]] Kind first_drawn(Number number) const;
  [[nodiscard]] Drawn drawn(Number number) const;
  [[nodiscard]] Document document(Number number) const;
  [[nodiscard]] judge::Asked own(Number number, bool late) const;
  [[nodiscard]] std::optional<std::string> payload(Number number, bool removal) const;
  [[nodiscard]] PlannedRecord record_of(Number number, const judge::Asked& asked) const;
  [[nodiscard]] PlannedRecord bad(Number number) const;
  [[nodiscard]] std::vector<PlannedRecord> reset(Number number) const;

  PlanSettings settings_;
};

// What a result holds for the payload of its request: it is derived from small ones; large ones are passed on as they
// are, so that readers may keep the bytes once.
[[nodiscard]] std::optional<std::string> result_payload(std::optional<std::string> request);

}  // namespace reseq::chaos
