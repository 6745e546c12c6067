// RuleBook: the rules in force, what they decide about a message, and what they have done. No sockets.
// Invariant: every message that was held is counted once as answered (a response: delivered) or lost.
// Thread rule: none of its own; the proxy guards it.
#pragma once

#include <cstdint>
#include <map>
#include <random>

#include "tests/chaos/proxy/message.h"

namespace reseq::chaos {

// What is to be done with a message that has come, and with its connection.
struct Fate {
  bool drop = false;
  bool reset = false;         // both sides
  bool reset_client = false;  // only the client's side; the message stays
  RuleId swallowed_by = 0;
};

// Do the broker and the names fit? (The kind is a matter of each message.)
[[nodiscard]] bool fits(const Match& match, const Origin& from);

class RuleBook {
 public:
  explicit RuleBook(std::uint64_t seed) : random_(seed) {}

  RuleId add(Rule rule);
  void remove(RuleId id);
  void release(RuleId id);
  void clear();
  [[nodiscard]] RuleCounts counts(RuleId id) const;
  [[nodiscard]] bool in_force(RuleId id) const { return in_force_.contains(id); }

  // Is a new connection to this broker refused?
  bool refuses(int broker);

  // A request or response has come. Sets what the message has to wait for.
  Fate on_request(const Origin& from, Message& request, Clock::time_point now);
  Fate on_response(const Origin& from, Message& response, Clock::time_point now);
  // The response to a request whose reply is to be lost has come.
  void reply_lost(RuleId id) { ++entries_.at(id).counts.acted; }

  [[nodiscard]] bool may_go(const Message& message) const;

  // What became of a message that was held.
  void request_delivered(Ticket held);
  void response_delivered(Ticket held);
  void answered(Ticket held, std::int16_t end_txn_error);
  void lost(Ticket held);

 private:
  struct Entry {
    Rule rule;
    RuleCounts counts;
    std::uint64_t taken = 0;  // of the limit
    // Of a Hold:
    std::uint64_t turn = 0;
    std::map<std::uint64_t, std::uint64_t> unfinished;  // by turn
    std::uint64_t held_order = 0;                       // of the first message of this turn
    Origin held_from;
    std::uint64_t triggers_seen = 0;
  };

  [[nodiscard]] bool takes(Entry& entry, const Origin& from, const Message& message, Way way);
  void hold(RuleId id, Entry& entry, const Origin& from, Message& message);
  bool apply(RuleId id, Entry& entry, const Origin& from, Message& message, Clock::time_point now, Fate& fate);
  Fate decide(const Origin& from, Message& message, Way way, Clock::time_point now);
  void watch_triggers(const Origin& from, Message& response);
  void finished(Ticket held);

  std::map<RuleId, Entry> entries_;    // all there ever were
  std::map<RuleId, Entry*> in_force_;  // those that messages meet
  RuleId last_id_ = 0;
  std::mt19937_64 random_;
};

}  // namespace reseq::chaos
