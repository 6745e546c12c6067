// StateQuestion: what somebody beside a worker wants to know from the state of one of its partitions, and the way
// there: questions wait in a mailbox until the worker is between two steps, which answers one at a time. The worker
// copies rows; what is made of them is made by whoever asked.
// Thread rule: Mailbox: any thread; answer_from(): the worker.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "admin/query.h"
#include "model/row.h"
#include "model/target.h"
#include "runtime/worker/lane_heads.h"
#include "runtime/worker/worker.h"

namespace reseq::runtime {

struct FoundDocument {
  std::string id;
  Row row;
  std::vector<LaneStanding> lanes = {};  // of a document query, and of a list of what is about lanes
};

struct StateAnswer {
  PartitionReport partition;
  TargetTable targets;
  engine::DispatchRules dispatch;
  std::vector<FoundDocument> documents;  // of a document query: one or none
  std::string cursor;                    // of a list: for the next page, unless it has ended
  bool ended = false;
  std::optional<admin::Refused> refused;  // instead of documents
};

// Nothing: the worker does not own the partition.
using StateAnswered = std::optional<StateAnswer>;

// Where an answer is put: written once by the worker, read by whoever asked when it is there.
class AnswerBox {
 public:
  void put(StateAnswered answer) {
    answer_ = std::move(answer);
    there_.store(true, std::memory_order_release);
  }
  // Null: not yet.
  [[nodiscard]] const StateAnswered* look() const {
    return there_.load(std::memory_order_acquire) ? &answer_ : nullptr;
  }

 private:
  StateAnswered answer_;
  std::atomic<bool> there_ = false;
};

struct StateQuestion {
  Partition partition;
  std::variant<admin::DocumentQuery, admin::ListQuery> what;
  Milliseconds until;  // steady clock: nobody waits for the answer any longer
  std::shared_ptr<AnswerBox> answer;
};

// Rows that one page of a list looks at at most: a millisecond of the worker. The page may be shorter than asked for,
// or empty, and still not the last. Of lanes it looks at so many rows more, and those of one document.
inline constexpr std::size_t kListRowsMax = 4000;

[[nodiscard]] StateAnswered answer_from(const StateQuestion& question, const Worker& worker,
                                        const Application& application, UnixMs now);

class Mailbox {
 public:
  static constexpr std::size_t kQuestionsMax = 1024;

  // False: too many wait already.
  bool post(StateQuestion question);
  // Of those that somebody still waits for, the one that waits longest. Cheap when there is none.
  [[nodiscard]] std::optional<StateQuestion> take(Milliseconds steady);

 private:
  std::atomic<std::size_t> waiting_ = 0;
  std::mutex mutex_;
  std::deque<StateQuestion> questions_;
};

}  // namespace reseq::runtime
