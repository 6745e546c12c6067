// ExpectedEnd: what the outputs of a partition must look like, told from what producers asked for and what the pipeline
// answered, without the engine's tables: per document and target the last release is the highest order asked for, or
// released by hand, unless the pipeline lost it, gave it up or made it too large, or an operator expired it; releases
// rise; none lies below a delete for all targets; the state holds exactly the documents that somebody asked for and
// whose watermark has not expired. A document begins a new life when its watermark has expired.
//
// Where requests wait, too: what expired or timed out is owed by nobody, and then the one below that nobody wants to
// expire is, unless what expired was dispatched; nothing expires before its date, or by nobody; a delete for all stops
// releases from its dispatch on.
//
// Targets that get every version are not looked at here (tests/judge/lanes.h), but for what they get.
//
// Where what is unchanged is skipped: its targets hold what it asks for, byte by byte, and that counts as its release.
// Thread rule: one thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/settings.h"
#include "tests/judge/replay.h"
#include "tests/judge/specification.h"
#include "tests/judge/verdict.h"

namespace reseq::judge {

class ExpectedEnd {
 public:
  ExpectedEnd(const config::Settings& settings, const Specification& specification, Verdict& verdict);

  // The batches of one partition, in their order.
  void take(const ReplayedBatch& batch);
  // No batch comes any more. `documents`: ids of the rows of the state.
  void finish(const std::set<std::string>& documents);

 private:
  using Order = std::pair<std::uint32_t, std::uint64_t>;  // epoch, sequence
  struct Target {
    std::optional<Order> asked;
    // Where requests wait: those asked for that may still be owed, with the date from which on nobody wants them.
    std::map<Order, std::optional<UnixMs>> all;
    std::optional<Order> dispatched;  // likewise: the highest one
    std::optional<Order> deleted;     // likewise: the highest delete for all that was dispatched
    std::optional<Order> released;
    std::uint64_t released_revision = 0;
    std::optional<std::string> released_payload;
  };
  struct Document {
    std::map<std::string, Target> targets;  // those asked for
    std::optional<Order> barrier;
    std::set<Order> barriers;  // where requests wait: all of them
    bool in_lanes = false;     // asked for by an ordered target, which is not among them
  };
  struct Delivered {  // a release whose request was not seen yet
    std::string id;
    std::string target;
    Order order;
    std::size_t payload = 0;
  };

  void take_request(const Decided& decided, UnixMs now);
  void take_removal_for_all(const std::string& id, const Order& order, bool reprocesses);
  void raise_barrier(Document& document, const Order& order) const;
  bool is_unchanged_beside_lanes(const Decided& decided, const Asked& asked, const Order& order);
  void take_unchanged(const Asked& asked, const Order& order);
  [[nodiscard]] std::set<std::string> named_by(const Asked& asked) const;
  // True: there were some.
  [[nodiscard]] bool leave_out_ordered(std::set<std::string>& targets) const;
  static void take_dispatched(const Document& document, Target& target, const Order& order);
  void take_command(const Decided& decided);
  void take_operation(const Decided& decided);
  [[nodiscard]] bool may_go_on(const std::string& name) const;
  void take_release(const Released& released);
  void ask(Target& target, const Order& order, std::optional<UnixMs> expires_at) const;
  void ask_by_command(Target& target, const Order& order) const;
  void take_journal(const ReplayedBatch& batch);
  void call_off(const std::string& id, const std::string& name, const Order& order);
  void take_gone(const Gone& gone, UnixMs now);
  [[nodiscard]] bool is_too_late(const Decided& decided, const Asked& asked, UnixMs now);
  [[nodiscard]] bool is_excused(const std::string& id, const std::string& name, const Target& target) const;
  [[nodiscard]] bool was_asked(const Delivered& delivered) const;
  void end_life(const std::string& id);
  void wrong(const std::string& what) { verdict_.add(Check::kEnd, what); }

  const config::Settings& settings_;
  bool tap_;
  bool journal_;
  std::set<std::string> default_targets_;
  std::set<std::string> ordered_;  // targets that Lanes looks at
  const Specification& specification_;
  Verdict& verdict_;
  std::map<std::string, Document> documents_;
  // Where requests wait, by id: the earliest date from which on nobody wants the order.
  std::map<std::pair<std::string, Order>, UnixMs> wanted_until_;
  std::map<std::string, std::set<std::pair<Order, std::size_t>>> payloads_;  // hashes of those asked for, by id
  std::vector<Delivered> early_;
  std::map<std::string, std::set<std::pair<std::string, Order>>> answered_;  // by document in its present life: targets
  std::set<Piece> called_off_;                                               // by an operator, or by too many attempts
  std::set<Piece> expired_;
  std::map<Offset, std::pair<std::string, Order>> requests_;  // where they wait
  std::set<std::string> expired_by_hand_;                     // in this batch
  std::set<Piece> forgotten_;                                 // answered in a life that has ended: not answered again
  std::uint32_t default_epoch_ = 0;
};

}  // namespace reseq::judge
