#include "cli/newest_request.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "base/log.h"
#include "cli/refusal.h"
#include "codec/base64.h"
#include "codec/header_names.h"
#include "codec/sequence_text.h"

namespace reseq::cli {

namespace {

using admin::bytes_in;
using admin::Json;
using admin::member;
using admin::number_in;
using admin::order_text;
using admin::text_in;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kAskAgain{200};

std::pair<std::int64_t, std::optional<Sequence>> order_of(const Json& order, SequenceKind kind) {
  const std::string base64 = text_in(order, "seq_base64", "");
  const std::string seq = base64.empty() ? bytes_in(order, "seq") : codec::parse_base64(base64).value_or("");
  return {number_in(order, "epoch"), codec::parse_sequence(kind, seq)};
}

}  // namespace

bool Names::has(const Json& name) const {
  return std::find(all_.begin(), all_.end(), name) != all_.end();
}

void Names::add(const Json& name) {
  if (!has(name)) all_.push_back(name);
}

Newest newest_in(std::int64_t partition, const Json& part, const Json& document, SequenceKind kind) {
  const Json request = member(document, "request");
  Newest newest{.partition = Partition(static_cast<std::int32_t>(partition)),
                .offset = Offset(number_in(request, "offset", -1)),
                .order = member(request, "order"),
                .groups = member(document, "groups"),
                .failures = member(document, "failures"),
                .above = "",
                .paused = part.contains("paused")};
  if (!newest.groups.is_array()) newest.groups = Json::array();
  if (newest.groups.empty()) return newest;
  const Json first = member(newest.groups[0], "order");
  if (order_of(first, kind) > order_of(newest.order, kind)) newest.above = order_text(first);
  return newest;
}

Again again_of(const Newest& newest, SequenceKind kind, const std::vector<config::Target>& targets) {
  const auto is_potent = [&](const Json& name) {
    return std::any_of(targets.begin(), targets.end(),
                       [&](const config::Target& one) { return one.effect == "potent" && name == one.name; });
  };
  Again again;
  Names newer;
  const auto request = order_of(newest.order, kind);
  Names failed;
  for (const Json& failure : newest.failures)
    if (text_in(failure, "state") == "failed" && order_of(member(failure, "order"), kind) == request)
      for (const Json& name : member(failure, "targets")) failed.add(name);
  for (const Json& group : newest.groups) {
    const bool is_newest = order_of(member(group, "order"), kind) == request;
    const auto take = [&](const char* what, Names& into) {
      for (const Json& name : member(group, what))
        if (!newer.has(name)) into.add(name);
    };
    take("pending", is_newest ? again.targets : again.older);
    if (is_newest) take("pending", again.wanted);
    if (is_newest)
      for (const Json& name : member(group, "served"))
        if (!newer.has(name) && !is_potent(name)) again.targets.add(name);
    for (const Json& name : member(group, "removed")) {
      if (!is_newest || newer.has(name)) continue;
      const bool has_failed = failed.has(name);
      (has_failed ? again.targets : again.removed).add(name);
      if (has_failed) again.wanted.add(name);
    }
    for (const char* what : {"pending", "served", "removed"})
      for (const Json& name : member(group, what)) newer.add(name);
  }
  return again;
}

std::string nothing_again_text(const std::string& id, const Newest& newest, const Again& again, SequenceKind kind) {
  const std::string order = order_text(newest.order);
  const bool is_in_a_group =
      !newest.groups.empty() && order_of(member(newest.groups[0], "order"), kind) == order_of(newest.order, kind);
  std::string why;
  if (!again.removed.empty())
    why = id + " is removed from all targets of its newest request " + order + ": only a newer one brings it back";
  else if (is_in_a_group)
    why = "what the newest request " + order + " of " + id + " asks for was done, and a potent target does it once";
  else
    why = "the newest request " + order + " of " + id +
          " was for strict or total targets alone, and would be another " +
          "version for them: the producer has to send it with a new sequence";
  return log::one_line("nothing would be requested: " + why);
}

Result<Newest> newest_of(Session& session, const std::string& id, SequenceKind kind) {
  Answers answers;
  if (auto asked = session.collect(admin::DocumentQuery{id}, answers, all_asked); !asked) return asked.error();
  for (const auto& [partition, part] : answers.partitions())
    for (const Json& document : part.value("documents", Json::array())) {
      if (!member(document, "request").is_object())
        return invalid(log::one_line(id) + " was never requested, only registered by commands");
      return newest_in(partition, part, document, kind);
    }
  if (!all_asked(answers))
    return Error{ErrorClass::kTimeout, 0,
                 "nobody answers for the partition of " + log::one_line(id) + ": " + why_unanswered(answers)};
  return invalid(log::one_line(id) + " is not known: " + why_unknown(answers));
}

Result<Newest> wait_for_revision(Session& session, const std::string& id, const Newest& before, SequenceKind kind,
                                 Milliseconds limit) {
  const auto until = SteadyClock::now() + std::chrono::milliseconds(limit.value());
  while (SteadyClock::now() < until) {
    auto now = newest_of(session, id, kind);
    if (!now && now.error().what_to_do == ErrorClass::kTimeout) {  // its partition moves, or is parked
      std::this_thread::sleep_for(kAskAgain);
      continue;
    }
    if (!now) {
      Error error = now.error();
      error.message = "the request is written again: " + error.message;
      return error;
    }
    if (now.value().epoch() != before.epoch() || now.value().sequence() != before.sequence())
      return invalid("a newer request of " + log::one_line(id) + " has come, " + order_text(now.value().order) +
                     ": its targets are processed for it, `describe` shows the others");
    if (now.value().revision() != before.revision()) return now;
    std::this_thread::sleep_for(kAskAgain);
  }
  return Error{ErrorClass::kTimeout, 0,
               "the request is written again, and not decided yet: `resequencer why` will tell what became of it"};
}

DeadLetter requested_again(const kafka::Record& record, const Newest& newest) {
  namespace header = codec::header;
  DeadLetter request = dead_letter_of(record);
  std::erase_if(request.headers, [](const OwnedHeader& each) {
    return each.first == header::kReprocess || each.first == header::kEpoch;
  });
  request.headers.emplace_back(header::kEpoch, std::to_string(newest.epoch()));
  request.headers.emplace_back(header::kReprocess, "true");
  return request;
}

}  // namespace reseq::cli
