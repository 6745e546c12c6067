// The newest request of a document, as the instances know it, and the record that requests it once more.
// Thread rule: main thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "admin/json_text.h"
#include "cli/dead_letter.h"
#include "cli/session.h"
#include "config/settings.h"
#include "model/order.h"

namespace reseq::cli {

struct Newest {
  Partition partition;
  Offset offset;
  admin::Json order;   // epoch, seq, revision
  admin::Json groups;  // of all orders that have targets, newest first
  admin::Json failures;
  std::string above;    // a newer order of the document than that of its request, for a person; empty: none
  bool paused = false;  // the partition decides nothing for the time being

  [[nodiscard]] std::int64_t epoch() const { return admin::number_in(order, "epoch"); }
  [[nodiscard]] std::string sequence() const { return admin::bytes_in(order, "seq"); }
  [[nodiscard]] std::string revision() const { return admin::text_in(order, "revision", "0"); }
};

// Names, in the order in which they came, each once.
class Names {
 public:
  [[nodiscard]] bool has(const admin::Json& name) const;
  void add(const admin::Json& name);
  [[nodiscard]] const admin::Json& json() const { return all_; }
  [[nodiscard]] std::string text() const { return admin::names_text(all_); }
  [[nodiscard]] bool empty() const { return all_.empty(); }

 private:
  admin::Json all_ = admin::Json::array();
};

// What the newest request is for when it is sent once more. It is the engine that decides (row R6); this is what can be
// told before. No target is older than an accepted delete of all: that one needs no rule of its own.
struct Again {
  Names targets;
  Names wanted;   // those of them that wait for it, or failed
  Names removed;  // stay removed from it
  Names older;    // wait for an older request, which cannot be sent once more
};

// REQUIRES: the document has a member `request`. `part`: of an answer, the partition that the document is in.
[[nodiscard]] Newest newest_in(std::int64_t partition, const admin::Json& part, const admin::Json& document,
                               SequenceKind kind);
// `targets`: what was done for a potent one is not done again.
[[nodiscard]] Again again_of(const Newest& newest, SequenceKind kind, const std::vector<config::Target>& targets);

// Why again_of() names no target.
[[nodiscard]] std::string nothing_again_text(const std::string& id, const Newest& newest, const Again& again,
                                             SequenceKind kind);

// kInvalid: the document is not known, or was never requested. kTimeout: nobody answers for its partition.
[[nodiscard]] Result<Newest> newest_of(Session& session, const std::string& id, SequenceKind kind);
// Until another revision is the newest. kInvalid: a newer request has come. kTimeout: not decided within `limit`.
[[nodiscard]] Result<Newest> wait_for_revision(Session& session, const std::string& id, const Newest& before,
                                               SequenceKind kind, Milliseconds limit);

// The record to write: as it was, with its epoch, which may have been the default of then.
[[nodiscard]] DeadLetter requested_again(const kafka::Record& record, const Newest& newest);

}  // namespace reseq::cli
