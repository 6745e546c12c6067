// Effects: what the decisions of a batch say should happen, while they are made: a decision for each input, records to
// send, events to tell.
// Invariants: inputs are numbered in the order in which they are decided; with EventPolicy::kAll every input has one
// event, at its number. Thread rule: one thread.
#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/assert.h"
#include "engine/context.h"
#include "model/effects.h"

namespace reseq::engine {

class Effects {
 public:
  explicit Effects(const Policies& policies) : policies_(policies) {}

  // Room for so many inputs, before the first.
  void expect(std::size_t inputs) {
    decisions_.reserve(inputs);
    emissions_.reserve(inputs);
  }

  // The number of the next input: its decision is made.
  InputIndex number(const Decision& decision) {
    RESEQ_ASSERT(decisions_.size() < kNoInput.value(), "more inputs in a batch than can be numbered");
    decisions_.push_back(decision);
    return InputIndex(static_cast<std::uint32_t>(decisions_.size() - 1));
  }
  // That the input that is decided next would have.
  [[nodiscard]] InputIndex next() const { return InputIndex(static_cast<std::uint32_t>(decisions_.size())); }

  // `events` tells of this outcome.
  [[nodiscard]] bool tells_of(Outcome outcome) const {
    if (policies_.events != EventPolicy::kDrops) return policies_.events == EventPolicy::kAll;
    return outcome == Outcome::kDropped || outcome == Outcome::kDeadLettered || outcome == Outcome::kRedirected ||
           outcome == Outcome::kUnchanged;
  }
  // Another event. The reference holds until the next one.
  Event& tell(InputIndex input, const Decision& decision, DocumentId id);
  // An operation is always told of: of a dry run, what would have been; its decision is then that nothing happened.
  Event& tell_operation(const Decision& would_be, bool dry_run, DocumentId id);

  // The place of a record to send.
  template <typename What>
  std::size_t send(InputIndex input, const What& what) {
    emissions_.push_back({input, what});
    return emissions_.size() - 1;
  }
  [[nodiscard]] Emission& sent(std::size_t place) { return emissions_[place]; }

  // The forward of a request, which was sent last, does not leave now: it is held.
  void keep(Hold hold);
  // The record of an input is held.
  void hold(Hold hold);
  // Another decision about an input, and what its event says. Null: it has none. The event holds until the next one.
  Event* decide_again(InputIndex input, const Decision& decision, DocumentId id, const Order& order,
                      const std::optional<Order>& newest);
  [[nodiscard]] const Decision& decided(InputIndex input) const { return decisions_[input.value()]; }
  // The number of a held record that is let through: those are numbered behind the inputs. Its key is copied.
  // REQUIRES: all inputs are decided.
  InputIndex let_through(const LetThrough& held);
  // A record of which nothing comes from an input, to one partition. Everything is copied.
  void generate(const GeneratedRecord& record, Partition to);
  [[nodiscard]] Arena& arena() { return arena_; }
  // Null: it says nothing.
  [[nodiscard]] const GivenUp* kept(const GivenUp& given_up) {
    if (given_up.gone == 0 && given_up.targets.empty()) return nullptr;
    return arena_.copy(std::span<const GivenUp>(&given_up, 1)).data();
  }

  // The forward of a request was withdrawn, because it was superseded in its own batch. So its decision is another one,
  // and what its event says.
  void drop_as_superseded(InputIndex input, DocumentId id, const Order& order, const Order& newer);

  // Forwards for no target are gone, events stand in input order. Nothing is added after it.
  void close();

  [[nodiscard]] const std::vector<Decision>& decisions() const { return decisions_; }
  [[nodiscard]] const std::vector<Emission>& emissions() const { return emissions_; }
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  [[nodiscard]] const std::vector<Hold>& holds() const { return holds_; }
  [[nodiscard]] const std::vector<LetThrough>& let_through() const { return let_through_; }

 private:
  const Policies& policies_;
  std::vector<Decision> decisions_;  // by input
  std::vector<Emission> emissions_;
  std::vector<Event> events_;
  std::vector<Hold> holds_;
  std::set<std::string_view> held_keys_;
  std::vector<LetThrough> let_through_;
  Arena arena_;
  bool late_events_ = false;  // some were added behind those of later inputs
};

}  // namespace reseq::engine
