// Link: one connection of a client and the one to the broker that belongs to it, with what is on its way between them.
// Invariants: messages leave in the order in which they came; a side that has ended gets nothing more; the broker's
// side outlives the client's as long as something is on its way to the broker.
// Thread rule: none of its own; the proxy guards it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tests/chaos/proxy/message.h"
#include "tests/chaos/proxy/rule_book.h"
#include "tests/chaos/proxy/socket.h"

namespace reseq::chaos {

// What all links share.
struct Exchange {
  RuleBook rules;
  std::uint64_t requests = 0;  // that came
  std::map<Api, std::uint64_t> forwarded;
};

class Link {
 public:
  enum class Side : unsigned char { kClient, kBroker };

  Link(Exchange& exchange, int broker, Socket client, Socket upstream);
  ~Link();  // resets both sides; what is still held is lost
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] const Origin& origin() const { return origin_; }

  // For poll(): descriptor (-1 = ended) and events of a side.
  [[nodiscard]] int fd(Side side) const { return socket(side).fd(); }
  [[nodiscard]] short events(Side side) const;
  void on_events(Side side, short events, Clock::time_point now);

  // Sends what may go.
  void flush(Clock::time_point now);
  // When flush() has something to do although nothing happened.
  [[nodiscard]] std::optional<Clock::time_point> next_due(Clock::time_point now) const;

  void doom() { doomed_ = true; }
  // Resets the link when a rule that took something out of its streams has been removed; true: it is over.
  [[nodiscard]] bool over();

 private:
  // Messages towards one side.
  struct Lane {
    std::deque<Message> queue;
    std::size_t bytes = 0;
    bool blocked = false;  // the socket takes no more for now
  };
  // A request that the broker has to answer.
  struct Asked {
    RequestFacts request;
    std::uint64_t order = 0;
    Ticket held;
    RuleId loses_reply = 0;
  };

  [[nodiscard]] const Socket& socket(Side side) const { return side == Side::kClient ? client_ : upstream_; }
  [[nodiscard]] Socket& socket(Side side) { return side == Side::kClient ? client_ : upstream_; }
  [[nodiscard]] const Lane& lane_to(Side side) const { return side == Side::kClient ? to_client_ : to_broker_; }
  void read(Side side, Clock::time_point now);
  void request_came(std::string frame, Clock::time_point now);
  void response_came(std::string frame, Clock::time_point now);
  void settle(const Fate& fate, Lane& lane, Message message);
  std::optional<Asked> asked(std::int32_t correlation);
  void send(Side side, Lane& lane, Clock::time_point now);
  void sent(Side side, Message& message);
  void forget(Lane& lane);
  void end_client();
  [[nodiscard]] bool owes_answer() const;

  Exchange& exchange_;
  Origin origin_;
  Socket client_;
  Socket upstream_;
  FrameCutter from_client_;
  FrameCutter from_broker_;
  Lane to_client_;
  Lane to_broker_;
  std::deque<Asked> asked_;
  std::set<RuleId> torn_by_;  // rules that took something out of the streams
  bool doomed_ = false;
};

}  // namespace reseq::chaos
