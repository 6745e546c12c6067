#include "cli/reprocess.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>
#include <utility>

#include "admin/json_text.h"
#include "base/log.h"
#include "cli/refusal.h"
#include "cli/session.h"
#include "cli/writing.h"
#include "codec/base64.h"
#include "codec/header_names.h"
#include "codec/sequence_text.h"
#include "kafka/admin.h"
#include "runtime/clients.h"
#include "runtime/log_reading.h"

namespace reseq::cli {

namespace {

using admin::bytes_in;
using admin::Json;
using admin::member;
using admin::names_text;
using admin::number_in;
using admin::order_text;
using admin::text_in;
using runtime::LogReading;
using SteadyClock = std::chrono::steady_clock;
namespace header = codec::header;

constexpr Milliseconds kAskLimit{10'000};
constexpr std::chrono::milliseconds kAskAgain{200};

// The newest request of a document, as its row knows it.
struct Newest {
  Partition partition;
  Offset offset;
  Json order;           // epoch, seq, revision
  Json groups;          // of all orders that have targets, newest first
  std::string above;    // a newer order of the document than that of its request, for a person; empty: none
  bool paused = false;  // the partition decides nothing for the time being

  [[nodiscard]] std::int64_t epoch() const { return number_in(order, "epoch"); }
  [[nodiscard]] std::string sequence() const { return bytes_in(order, "seq"); }
  [[nodiscard]] std::string revision() const { return text_in(order, "revision", "0"); }
};

std::pair<std::int64_t, std::optional<Sequence>> order_of(const Json& order, SequenceKind kind) {
  const std::string base64 = text_in(order, "seq_base64", "");
  const std::string seq = base64.empty() ? bytes_in(order, "seq") : codec::parse_base64(base64).value_or("");
  return {number_in(order, "epoch"), codec::parse_sequence(kind, seq)};
}

Newest newest_in(std::int64_t partition, const Json& part, const Json& document, SequenceKind kind) {
  const Json request = member(document, "request");
  Newest newest{.partition = Partition(static_cast<std::int32_t>(partition)),
                .offset = Offset(number_in(request, "offset", -1)),
                .order = member(request, "order"),
                .groups = member(document, "groups"),
                .above = "",
                .paused = part.contains("paused")};
  if (!newest.groups.is_array()) newest.groups = Json::array();
  if (newest.groups.empty()) return newest;
  const Json first = member(newest.groups[0], "order");
  if (order_of(first, kind) > order_of(newest.order, kind)) newest.above = order_text(first);
  return newest;
}

// Names, in the order in which they came, each once.
class Names {
 public:
  [[nodiscard]] bool has(const Json& name) const { return std::find(all_.begin(), all_.end(), name) != all_.end(); }
  void add(const Json& name) {
    if (!has(name)) all_.push_back(name);
  }
  [[nodiscard]] const Json& json() const { return all_; }
  [[nodiscard]] std::string text() const { return names_text(all_); }
  [[nodiscard]] bool empty() const { return all_.empty(); }

 private:
  Json all_ = Json::array();
};

// What the newest request is for when it is sent once more. It is the engine that decides (row R6); this is what can be
// told before. No target is older than an accepted delete of all: that one needs no rule of its own.
struct Again {
  Names targets;
  Names removed;  // stay removed from it
  Names older;    // wait for an older request, which cannot be sent once more
};

Again again_of(const Newest& newest, SequenceKind kind) {
  Again again;
  Names newer;
  const auto request = order_of(newest.order, kind);
  for (const Json& group : newest.groups) {
    const bool is_newest = order_of(member(group, "order"), kind) == request;
    const auto take = [&](const char* what, Names& into) {
      for (const Json& name : member(group, what))
        if (!newer.has(name)) into.add(name);
    };
    take("pending", is_newest ? again.targets : again.older);
    if (is_newest) take("served", again.targets);
    if (is_newest) take("removed", again.removed);
    for (const char* what : {"pending", "served", "removed"})
      for (const Json& name : member(group, what)) newer.add(name);
  }
  return again;
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
    return Error{ErrorClass::kTimeout, 0, "nobody answers for the partition of " + log::one_line(id)};
  return invalid(log::one_line(id) + " is not known: " + why_unknown(answers));
}

// With its epoch, which may have been the default of then.
DeadLetter again(const kafka::Record& record, const Newest& newest) {
  DeadLetter request = dead_letter_of(record);
  std::erase_if(request.headers, [](const OwnedHeader& each) {
    return each.first == header::kReprocess || each.first == header::kEpoch;
  });
  request.headers.emplace_back(header::kEpoch, std::to_string(newest.epoch()));
  request.headers.emplace_back(header::kReprocess, "true");
  return request;
}

// What went wrong behind something that is done.
Error behind(const std::string& done, Error error) {
  error.message = done + ": " + error.message;
  return error;
}

Result<Newest> wait_for_revision(Session& session, const std::string& id, const Newest& before, SequenceKind kind,
                                 Milliseconds limit) {
  const auto until = SteadyClock::now() + std::chrono::milliseconds(limit.value());
  while (SteadyClock::now() < until) {
    auto now = newest_of(session, id, kind);
    if (!now && now.error().what_to_do == ErrorClass::kTimeout) continue;  // its partition moves
    if (!now) return behind("the request is written again", now.error());
    if (now.value().epoch() != before.epoch() || now.value().sequence() != before.sequence())
      return invalid("a newer request of " + log::one_line(id) + " has come, " + order_text(now.value().order) +
                     ": its targets are processed for it, `describe` shows the others");
    if (now.value().revision() != before.revision()) return now;
    std::this_thread::sleep_for(kAskAgain);
  }
  return Error{ErrorClass::kTimeout, 0,
               "the request is written again, and not decided yet: `resequencer why` will tell what became of it"};
}

void print(const std::string& id, const Newest& newest, const Again& again, const OperationOptions& options) {
  if (options.ask.view != View::kJson) {
    const std::string removed = again.removed.empty() ? "" : "; " + again.removed.text() + " stays removed from it";
    const std::string older = again.older.empty() ? "" : "; " + again.older.text() + " waits for an older request";
    std::printf("%s: %s again, newest request %s, for %s%s%s%s\n", log::one_line(id).c_str(),
                options.dry_run ? "would be requested" : "requested", log::one_line(order_text(newest.order)).c_str(),
                log::one_line(again.targets.text()).c_str(), log::one_line(removed).c_str(),
                log::one_line(older).c_str(), newest.paused ? "; its partition is paused" : "");
    return;
  }
  Json told = {{"partition", newest.partition.value()},
               {"dry_run", options.dry_run},
               {"paused", newest.paused},
               {"order", newest.order},
               {"targets", again.targets.json()},
               {"removed", again.removed.json()},
               {"older", again.older.json()}};
  admin::set_bytes(told, "id", id);
  std::fputs(admin::indented(told).c_str(), stdout);
}

void print(const std::map<std::int64_t, std::int64_t>& epochs, const OperationOptions& options) {
  if (options.ask.view == View::kJson) {
    Json partitions = Json::array();
    for (const auto& [partition, epoch] : epochs)
      partitions.push_back({{"partition", partition}, {"default_epoch", epoch}});
    const Json told = {{"dry_run", options.dry_run}, {"partitions", std::move(partitions)}};
    std::fputs(admin::indented(told).c_str(), stdout);
    return;
  }
  for (const auto& [partition, epoch] : epochs)
    std::printf("partition %lld: default epoch %s%lld\n", static_cast<long long>(partition),
                options.dry_run ? "would be at least " : "", static_cast<long long>(epoch));
}

// Until each partition says that it has this default epoch, or a higher one.
Result<> wait_for_epoch(Session& session, std::uint32_t epoch, const OperationOptions& options) {
  const auto has_it = [epoch](const Json& part) { return number_in(part, "default_epoch", -1) >= epoch; };
  const auto all_have_it = [&](const Answers& answers) { return answers.lacking(has_it).empty(); };
  Answers answers;
  if (auto asked = session.collect(admin::StatsQuery{}, answers, all_have_it); !asked)
    return behind("the RESET is written", asked.error());
  if (all_have_it(answers)) {
    std::map<std::int64_t, std::int64_t> epochs;
    for (const auto& [partition, part] : answers.partitions()) epochs[partition] = number_in(part, "default_epoch");
    print(epochs, options);
    return Done{};
  }
  return Error{ErrorClass::kTimeout, 0,
               "the RESET is written, and not confirmed; partitions: " + answers.lacking(has_it) +
                   "; it happens when an instance has them and they are not paused; `stats` will tell"};
}

}  // namespace

Result<> reprocess(const config::Settings& settings, const std::string& id, const OperationOptions& options) {
  if (settings.intake == "tap")
    return invalid("with intake = tap nobody can hand out a revision: send the document with a new sequence");
  auto session = Session::open(settings, options.ask);
  if (!session) return session.error();
  const runtime::Application application(settings);
  const SequenceKind kind = application.sequence_kind;
  const auto newest = newest_of(*session.value(), id, kind);
  if (!newest) return newest.error();
  if (!newest.value().above.empty())
    return invalid("its request again would be superseded: " + newest.value().above + " is known of " +
                   log::one_line(id) + ", above its newest request " + order_text(newest.value().order) +
                   ", by a command or a release by hand; the producer has to send it with a sequence above that");
  auto log = LogReading::open(application, settings.topic_requests);
  if (!log) return runtime::with_fix(log.error(), settings);
  DeadLetter request;
  auto read = log.value().read_one(newest.value().partition, newest.value().offset,
                                   [&](const kafka::Record& record) { request = again(record, newest.value()); });
  if (!read) return read;
  if (request.key != id) return invalid("the request of " + log::one_line(id) + " is not where its row says");
  const Again again = again_of(newest.value(), kind);
  if (again.targets.empty())
    return invalid("nothing would be requested: " + log::one_line(id) +
                   " is removed from all targets of its newest request " +
                   log::one_line(order_text(newest.value().order)) + ": only a newer one brings it back");
  if (options.dry_run) {
    print(id, newest.value(), again, options);
    return Done{};
  }
  auto writing = Writing::open(application);
  if (!writing) return writing.error();
  if (auto sent = writing.value().send(settings.topic_requests, request.key, request.payload, request.headers,
                                       newest.value().partition);
      !sent)
    return runtime::with_fix(sent.error(), settings);
  if (auto finished = writing.value().finish(); !finished) return runtime::with_fix(finished.error(), settings);
  if (newest.value().paused)
    return Error{ErrorClass::kTimeout, 0,
                 "the request is written again, and decided when partition " +
                     std::to_string(newest.value().partition.value()) + " is resumed"};
  const auto decided = wait_for_revision(*session.value(), id, newest.value(), kind, options.ask.timeout);
  if (!decided) return decided.error();
  print(id, decided.value(), again_of(decided.value(), kind), options);
  return Done{};
}

Result<> reset(const config::Settings& settings, std::uint32_t epoch, const OperationOptions& options) {
  if (settings.intake == "tap" && !settings.requests_carry_epochs)
    return invalid("with intake = tap a RESET needs requests that carry epochs: the producer has to send reseq-epoch");
  const runtime::Application application(settings);
  auto admin = kafka::Admin::open(runtime::connection_of(settings));
  if (!admin) return admin.error();
  const auto partitions = admin.value()->partition_count(settings.topic_requests, kAskLimit);
  if (!partitions) return runtime::with_fix(partitions.error(), settings);
  const std::string control_id = options.control_id.empty() ? "reset-" + std::to_string(epoch) : options.control_id;
  if (options.dry_run) {
    std::map<std::int64_t, std::int64_t> epochs;
    for (std::int32_t p = 0; p < partitions.value(); ++p) epochs[p] = epoch;
    print(epochs, options);
    return Done{};
  }
  auto session = Session::open(settings, options.ask);
  if (!session) return session.error();
  auto writing = Writing::open(application);
  if (!writing) return writing.error();
  for (std::int32_t p = 0; p < partitions.value(); ++p) {
    const std::vector<OwnedHeader> headers = {{std::string(header::kControl), "reset"},
                                              {std::string(header::kControlId), control_id},
                                              {std::string(header::kControlPartition), std::to_string(p)},
                                              {std::string(header::kEpoch), std::to_string(epoch)}};
    if (auto sent = writing.value().send(settings.topic_requests, "reset", std::nullopt, headers, Partition(p)); !sent)
      return runtime::with_fix(sent.error(), settings);
  }
  if (auto finished = writing.value().finish(); !finished) return runtime::with_fix(finished.error(), settings);
  return wait_for_epoch(*session.value(), epoch, options);
}

}  // namespace reseq::cli
