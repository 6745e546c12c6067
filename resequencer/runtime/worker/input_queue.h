// InputQueue: records of one partition that were fetched and wait for their batch, and how far each input was read.
//
// Invariants: per input, records stand in offset order; decided(role) <= read(role); a batch takes records only from
// the front and they leave the queue when its transaction is committed. Thread rule: one worker.
#pragma once

#include <array>
#include <boost/container/deque.hpp>
#include <cstdint>
#include <deque>
#include <optional>

#include "kafka/cluster.h"
#include "model/ids.h"
#include "runtime/application/inputs.h"

namespace reseq::runtime {

class InputQueue {
 public:
  // Starts afresh: nothing waits, every input is read from its position on.
  void reset(Role role, Offset next) {
    Input& input = at(role);
    bytes_ -= input.bytes;
    // Not assigned: Boost 1.74 clears the old one first, and to clear a deque that never held anything it adds to null.
    Records().swap(input.records);
    input.sizes.clear();
    input.read = next;
    input.decided = next;
    input.bytes = 0;
    fence_.reset();
    wants_ends_ = false;
  }

  void push(Role role, kafka::Record&& record) {
    Input& input = at(role);
    if (record.offset < input.read) return;  // fetched again after an assign: it waits here already
    input.read = Offset(record.offset.value() + 1);
    const std::uint64_t bytes = bytes_of(record);
    input.bytes += bytes;
    bytes_ += bytes;
    input.sizes.push_back(bytes);
    input.records.push_back(std::move(record));
  }

  // The reader stands at `next`: control records in front of it are read too.
  void reached(Role role, Offset next) { at(role).read = std::max(at(role).read, next); }

  // Everything in front of records()[taken] of this input is committed.
  void take(Role role, std::size_t taken) {
    Input& input = at(role);
    for (std::size_t i = 0; i < taken; ++i) {
      input.bytes -= input.sizes.front();
      bytes_ -= input.sizes.front();
      input.sizes.pop_front();
      input.records.pop_front();
    }
    input.decided = after(role, 0);
  }

  // Of all inputs, by kInputs.
  [[nodiscard]] std::array<Offset, kInputs.size()> next_to_decide() const {
    return {after(kInputs[0], 0), after(kInputs[1], 0), after(kInputs[2], 0)};
  }

  // Next offset to read once the first `taken` records are decided: what the transaction commits.
  [[nodiscard]] Offset after(Role role, std::size_t taken) const {
    const Input& input = at(role);
    return taken < input.records.size() ? input.records[taken].offset : input.read;
  }

  [[nodiscard]] const auto& records(Role role) const { return at(role).records; }
  [[nodiscard]] auto& records(Role role) { return at(role).records; }
  [[nodiscard]] Offset read(Role role) const { return at(role).read; }
  [[nodiscard]] Offset decided(Role role) const { return at(role).decided; }
  [[nodiscard]] std::size_t size() const {
    return inputs_[0].records.size() + inputs_[1].records.size() + inputs_[2].records.size();
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t bytes(Role role) const { return at(role).bytes; }

  // Requests first: a command met no registration. The end of `requests` is to be asked, then requests are
  // read to it, then commands that had been fetched before the question may miss for good.
  void want_ends() { wants_ends_ = true; }
  [[nodiscard]] bool wants_ends() const { return wants_ends_; }
  void set_fence(Offset requests_end) {
    wants_ends_ = false;
    fence_ = Fence{requests_end, read(Role::kCommands)};
  }
  [[nodiscard]] bool fence_open() const { return fence_ && read(Role::kRequests) >= fence_->requests_end; }
  // A command may be decided although it is unknown.
  [[nodiscard]] bool requests_read_for(Offset command) const {
    return fence_open() && command < fence_->commands_covered;
  }
  // Commands wait for requests: nothing but requests can be decided.
  [[nodiscard]] bool commands_wait() const { return wants_ends_ || wants_requests(); }
  // Some that are not read yet: their end is known.
  [[nodiscard]] bool wants_requests() const { return fence_ && !fence_open(); }
  [[nodiscard]] bool something_to_decide() const {
    return !at(Role::kRequests).records.empty() || !at(Role::kControl).records.empty() ||
           (!at(Role::kCommands).records.empty() && !commands_wait());
  }

 private:
  // A record is some hundred bytes: the blocks of std::deque would hold one of them.
  using Records = boost::container::deque<kafka::Record, void,
                                          boost::container::deque_options<boost::container::block_size<64>>::type>;
  struct Input {
    Records records;
    std::deque<std::uint64_t> sizes;  // of the records, as they came: producing moves headers out of them
    Offset read;
    Offset decided;
    std::uint64_t bytes = 0;
  };
  struct Fence {
    Offset requests_end;
    Offset commands_covered;  // first command that was not fetched yet when the end was asked
  };

  // What it holds, in this process: librdkafka's message and header objects are not in the record's bytes, and a header
  // object has a copy of name and value.
  [[nodiscard]] static std::uint64_t bytes_of(const kafka::Record& record) {
    constexpr std::uint64_t kMessage = 400;
    constexpr std::uint64_t kHeaderObject = 80;
    std::uint64_t bytes = sizeof record + kMessage + (record.key ? record.key->size() : 0) +
                          (record.payload ? record.payload->size() : 0) + record.left_out.bytes;
    for (const Header& header : record.headers)
      bytes += sizeof header + kHeaderObject + 2 * (header.name.size() + (header.value ? header.value->size() : 0));
    return bytes;
  }
  [[nodiscard]] const Input& at(Role role) const { return inputs_[slot_of(role)]; }
  [[nodiscard]] Input& at(Role role) { return inputs_[slot_of(role)]; }

  std::array<Input, 3> inputs_;  // per kInputs
  std::uint64_t bytes_ = 0;
  std::optional<Fence> fence_;
  bool wants_ends_ = false;
};

}  // namespace reseq::runtime
