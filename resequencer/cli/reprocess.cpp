#include "cli/reprocess.h"

#include <cstdio>
#include <map>
#include <utility>

#include "admin/json_text.h"
#include "base/log.h"
#include "cli/newest_request.h"
#include "cli/refusal.h"
#include "cli/session.h"
#include "cli/writing.h"
#include "codec/header_names.h"
#include "kafka/admin.h"
#include "runtime/application/clients.h"
#include "runtime/application/log_reading.h"

namespace reseq::cli {

namespace {

using admin::Json;
using admin::number_in;
using admin::order_text;
using runtime::LogReading;
namespace header = codec::header;

// What went wrong behind something that is done.
Error behind(const std::string& done, Error error) {
  error.message = done + ": " + error.message;
  return error;
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

Result<> check_reprocess(const config::Settings& settings) {
  if (settings.intake == "tap")
    return invalid("with intake = tap nobody can hand out a revision: send the document with a new sequence");
  return Done{};
}

Result<> reprocess(const config::Settings& settings, const std::string& id, const OperationOptions& options) {
  if (auto possible = check_reprocess(settings); !possible) return possible;
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
  bool is_its_request = false;
  auto read = log.value().read_one(newest.value().partition, newest.value().offset, [&](const kafka::Record& record) {
    request = requested_again(record, newest.value());
    is_its_request = application.id_of_request(record) == id;
  });
  if (!read) return read;
  if (!is_its_request) return invalid("the request of " + log::one_line(id) + " is not where its row says");
  const Again again = again_of(newest.value(), kind, settings.targets);
  if (again.targets.empty()) return invalid(nothing_again_text(id, newest.value(), again, kind));
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
  print(id, decided.value(), again_of(decided.value(), kind, settings.targets), options);
  return Done{};
}

Result<> reset(const config::Settings& settings, std::uint32_t epoch, const OperationOptions& options) {
  if (settings.intake == "tap" && !settings.requests_carry_epochs)
    return invalid("with intake = tap a RESET needs requests that carry epochs: the producer has to send reseq-epoch");
  const runtime::Application application(settings);
  auto admin = kafka::Admin::open(runtime::connection_of(settings));
  if (!admin) return admin.error();
  const auto partitions = admin.value()->partition_count(settings.topic_requests, kafka::kBrokerAnswerLimit);
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
