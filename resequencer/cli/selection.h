// Selection: the documents that an operator means without naming them, page by page: of each partition in the order of
// their ids. What is done with a page may change what the selection holds; the next page begins behind it all the same.
// Thread rule: main thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.h"

namespace reseq::cli {

struct Selection {
  admin::State state = admin::State::kOverdue;
  std::optional<std::string> target;  // those that are so because of it
  admin::WantedError error;           // of kFailed
  std::string id_prefix;
  Milliseconds older_than{0};
  std::int64_t documents_max = INT64_MAX;
  std::int64_t rate = 100;   // documents a second, at least 1
  Milliseconds time_max{0};  // then it ends behind the page that it is at; 0 = never
  std::string from;          // a place() where an earlier run ended; empty: from the beginning
};

struct SelectedPage {
  std::int64_t partition = 0;
  admin::Json part;  // of the answer
  std::vector<admin::Json> documents;
};

// Of an order in the `journal` of a document, or one of its `failures`. REQUIRES: is_of_the_queue(state), or
// is_of_failures(state).
[[nodiscard]] bool is_in_state(const admin::Json& entry, admin::State state);
// Targets because of which a document is in this state; of kAny and kCompleted none are. Of failures only those with
// such an error.
[[nodiscard]] std::vector<std::string> causing_targets(const admin::Json& document, admin::State state,
                                                       const admin::WantedError& error = {});
[[nodiscard]] bool is_because_of(const std::string& target, const admin::Json& document, admin::State state,
                                 const admin::WantedError& error = {});

class SelectionPages {
 public:
  // kInvalid: `from` is no place.
  static Result<SelectionPages> open(Session& session, const Selection& selection, std::int32_t partitions);

  // The next page, which may be empty, of at most `documents_max`; nothing: that was the last one. A partition that
  // nobody answers for is left out.
  Result<std::optional<SelectedPage>> next(std::int64_t documents_max);
  // Where what is not done begins, as PARTITION:CURSOR: the next page, or the first one that nobody answered for.
  [[nodiscard]] std::string place() const;
  // Partitions that were left out, as "1, 3".
  [[nodiscard]] const std::string& unanswered() const { return unanswered_; }

 private:
  SelectionPages(Session& session, const Selection& selection, std::int32_t partitions);
  [[nodiscard]] bool fits(const admin::Json& document) const;
  void go_to_next_partition();

  Session& session_;
  admin::State state_;
  std::optional<std::string> target_;
  admin::WantedError error_;
  admin::ListQuery query_;
  std::int64_t page_max_;
  std::int32_t partition_ = 0;
  std::int32_t partitions_;
  std::string unanswered_;
  std::string first_unanswered_;  // its place
};

}  // namespace reseq::cli
