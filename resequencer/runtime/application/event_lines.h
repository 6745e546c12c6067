// EventLines: events of one document as lines, newest first. Dropped inputs of one kind are one line, with their count:
// a run.
// Invariant: of a kind are only inputs that agree in reason, row of the decision tables, target and topic, so that
// these columns are true of each input of a run. A run may have runs of other kinds between its first and its last
// input, because requests and results of a document alternate; any other event of the document ends it.
// Of requests a run is either from before the newest one or from behind it: only the latter came too late. Of results
// it is either from before its target began to wait or from behind that.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "admin/document_json.h"

namespace reseq::runtime {

// More kinds than 64 targets have. Of a topic in which somebody else writes there may be more: then some have two runs.
inline constexpr std::size_t kKindsMax = 1'000;

// Of the newest request of a document that was accepted.
struct RequestPlace {
  std::string topic;
  Partition partition;
  Offset offset;
};

// A target waits for a result.
struct Wait {
  std::string target;
  std::string since;  // as admin::time_text() writes it
};

// Times that runs of a document do not reach across.
struct Borders {
  std::vector<RequestPlace> newest;
  std::vector<Wait> waits;
};

// `parts`: what the instances answer of a document, one entry for each partition. `topic`: of requests.
[[nodiscard]] Borders borders_of(const admin::Json& parts, const std::string& topic);

// An event, or a run of inputs that were dropped.
struct PastEvent {
  UnixMs at;               // of the batch that decided it; of the newest of a run
  admin::Json json;        // schemas/events.schema.json; of the newest of a run
  std::int64_t count = 1;  // of the run
  UnixMs since = at;       // of its oldest
  std::string kind = {};   // empty: it is no part of a run
};

// For a program: {"time", "event"}, and of a run {"count", "since"} as well.
[[nodiscard]] admin::Json event_json(const PastEvent& event);

// Requests of a document that came behind its newest one and were dropped because that one is newer.
struct Latecomers {
  std::int64_t count = 0;
  admin::Json last;  // order of the last of them; null: there is none
};

// `part`: of the partition that has the document. `events`: of the document, newest first, no run of which is both from
// before its newest request and from behind it. `topic`: of requests.
[[nodiscard]] Latecomers latecomers_of(const admin::Json& part, const admin::Json& document,
                                       const std::vector<PastEvent>& events, const std::string& topic);

// Takes the events in pieces, the newest piece first, those of a piece oldest first.
class EventLines {
 public:
  explicit EventLines(std::size_t lines_max, Borders borders = {})
      : lines_max_(lines_max), borders_(std::move(borders)) {}

  void add(UnixMs at, admin::Json event);
  // True: older pieces would change nothing of what is wanted.
  [[nodiscard]] bool end_piece();
  // Those that are wanted, newest first by their newest input, of the pieces that have ended.
  [[nodiscard]] std::vector<PastEvent> take();
  // There are more of them than are wanted.
  [[nodiscard]] bool more() const { return more_; }

 private:
  std::size_t lines_max_;
  Borders borders_;
  std::deque<PastEvent> piece_;
  std::vector<PastEvent> lines_;
  bool more_ = false;
};

}  // namespace reseq::runtime
