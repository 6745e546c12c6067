#include "cli/operations.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <utility>

#include "admin/json_text.h"
#include "base/log.h"
#include "cli/lane_text.h"
#include "cli/refusal.h"
#include "cli/waited_for.h"
#include "cli/writing.h"
#include "codec/hash.h"
#include "codec/header_names.h"
#include "codec/json_writer.h"
#include "codec/sequence_text.h"
#include "codec/timestamp_text.h"
#include "config/rules.h"
#include "kafka/admin.h"
#include "runtime/application/clients.h"
#include "runtime/application/log_reading.h"

namespace reseq::cli {

namespace {

using admin::bytes_in;
using admin::Json;
using admin::member;
using admin::number_in;
using admin::order_text;
using admin::text_in;
using runtime::LogReading;
namespace header = codec::header;

constexpr std::size_t kControlIdBytesMax = 200;  // what is drawn comes behind it

// One operation on its way: the same record to each partition concerned, and what became of each.
class Operation {
 public:
  Operation(const config::Settings& settings, std::string name, const OperationOptions& options)
      : application_(settings),
        name_(std::move(name)),
        options_(options),
        drawn_(draw_control_id()),
        control_id_(options.control_id.empty() ? drawn_ : options.control_id + " " + drawn_) {
    add(header::kControl, name_);
    add(header::kControlId, control_id_);
    if (options.dry_run) add(header::kControlDryRun, "true");
  }

  [[nodiscard]] const runtime::Application& application() const { return application_; }
  void add(std::string_view name, std::optional<std::string> value) { headers_.emplace_back(name, std::move(value)); }
  void expect(const Expectation& expected) {
    if (!expected.sequence) return;
    add(header::kControlExpectedSeq, *expected.sequence);
    add(header::kControlExpectedEpoch, std::to_string(expected.epoch));
  }

  // Which version it is about.
  void add_order(const std::string& sequence, const std::string& epoch) {
    again_ = " with --seq " + log::one_line(sequence) + (epoch == "0" ? "" : " --epoch " + epoch);
    add(header::kSeq, sequence);
    add(header::kEpoch, epoch);
  }

  [[nodiscard]] Result<> fits(const std::string& option, const std::string& sequence) const {
    if (codec::parse_sequence(application_.sequence_kind, sequence)) return Done{};
    return invalid(option + " \"" + sequence + "\" is no sequence of this application (sequence_kind = \"" +
                   application_.settings.sequence_kind + "\")");
  }

  // Whoever decides it would refuse it, and keep what cannot be used as a dead letter: better not to write it.
  [[nodiscard]] Result<> knows(const std::optional<std::string>& target, const Expectation& expected) const {
    if (expected.sequence)
      if (auto fits_it = fits("--expect-seq", *expected.sequence); !fits_it) return fits_it;
    return check_operation(application_.settings, target, options_);
  }

  // To where the document is.
  Result<> run_for(const std::string& id, const std::optional<std::string>& payload,
                   std::optional<std::int32_t> partition) {
    const auto count = partitions();
    if (!count) return count.error();
    if (!partition && application_.partitioner == Partitioner::kUnchecked)
      return invalid("with partitioner = unchecked nobody can say where the document is: add --partition, which " +
                     std::string("`resequencer describe` names"));
    if (!partition) partition = codec::partition_of(id, application_.partitioner, count.value()).value();
    return run({*partition}, count.value(), id, payload);
  }
  Result<> run_for(std::optional<std::int32_t> partition) {
    const auto count = partitions();
    if (!count) return count.error();
    std::vector<std::int32_t> all;
    for (std::int32_t p = 0; p < count.value(); ++p)
      if (!partition || *partition == p) all.push_back(p);
    return run(partition && all.empty() ? std::vector{*partition} : all, count.value(), std::nullopt, std::nullopt);
  }

 private:
  Result<std::int32_t> partitions() const {
    auto admin = kafka::Admin::open(runtime::connection_of(application_.settings));
    if (!admin) return admin.error();
    auto count = admin.value()->partition_count(application_.settings.topic_control, kafka::kBrokerAnswerLimit);
    if (!count) return runtime::with_fix(count.error(), application_.settings);
    return count;
  }

  Result<> run(const std::vector<std::int32_t>& where, std::int32_t count, const std::optional<std::string>& key,
               const std::optional<std::string>& payload) {
    for (const std::int32_t partition : where)
      if (partition < 0 || partition >= count)
        return invalid("there is no partition " + std::to_string(partition) + ": there are " + std::to_string(count));
    auto events = LogReading::open(application_, application_.settings.topic_events);
    if (!events) return runtime::with_fix(events.error(), application_.settings);
    if (auto marked = events.value().mark_ends(); !marked) return marked;
    if (auto written = write(where, key, payload); !written) return written;
    std::map<std::int64_t, Json> told;
    auto followed = events.value().follow(
        options_.ask.timeout, [&](const kafka::Record& record) { note(record, told); },
        [&] { return told.size() == where.size(); });
    if (!followed && followed.error().what_to_do != ErrorClass::kTimeout) return followed;
    print(told);
    return judge(where, told);
  }

  Result<> write(const std::vector<std::int32_t>& where, const std::optional<std::string>& key,
                 const std::optional<std::string>& payload) {
    auto writing = Writing::open(application_);
    if (!writing) return writing.error();
    for (const std::int32_t partition : where) {
      std::vector<OwnedHeader> headers = headers_;
      headers.emplace_back(header::kControlPartition, std::to_string(partition));
      if (auto sent =
              writing.value().send(application_.settings.topic_control, key, payload, headers, Partition(partition));
          !sent)
        return runtime::with_fix(sent.error(), application_.settings);
    }
    if (auto finished = writing.value().finish(); !finished)
      return runtime::with_fix(finished.error(), application_.settings);
    return Done{};
  }

  void note(const kafka::Record& record, std::map<std::int64_t, Json>& told) const {
    if (!record.payload || record.payload->find(drawn_) == std::string_view::npos) return;
    Json event = admin::parse_object(*record.payload);
    if (event.is_discarded() || text_in(event, "kind", "") != "operation") return;
    if (!text_in(event, "control_id", "").ends_with(drawn_)) return;
    told.emplace(number_in(member(event, "source"), "partition", -1), std::move(event));
  }

  void print(const std::map<std::int64_t, Json>& told) const {
    if (options_.ask.view == View::kJson) {
      Json events = Json::array();
      for (const auto& [partition, event] : told) events.push_back(event);
      const Json all = {{"control_id", control_id_}, {"events", std::move(events)}};
      return put(admin::indented(all), options_);
    }
    for (const auto& [partition, event] : told)
      std::printf("partition %lld: %s\n", static_cast<long long>(partition), log::one_line(told_of(event)).c_str());
  }

  [[nodiscard]] std::string told_of(const Json& event) const {
    std::string text = name_;
    const bool skips = name_ == "skip";  // it is about one version, whichever is the newest
    if (const std::string id = bytes_in(event, "id"); id != "-") text += " " + id;
    if (skips && event.contains("order")) text += " " + order_text(member(event, "order"));
    if (event.contains("target")) text += " for " + text_in(event, "target");
    text += (options_.dry_run ? ": would be " : ": ") + text_in(event, "outcome");
    if (event.contains("reason")) text += ", " + text_in(event, "reason");
    if (event.contains("version")) text += ", version " + text_in(event, "version");
    if (!skips && event.contains("expected")) text += ", newest request " + order_text(member(event, "expected"));
    return text;
  }

  [[nodiscard]] Result<> judge(const std::vector<std::int32_t>& where, const std::map<std::int64_t, Json>& told) const {
    std::string silent;
    for (const std::int32_t partition : where)
      if (!told.contains(partition)) silent += (silent.empty() ? "" : ", ") + std::to_string(partition);
    if (!silent.empty())
      return Error{
          ErrorClass::kTimeout, 0,
          name_ + " is written as " + control_id_ + ", and not confirmed for partitions " + silent +
              (options_.dry_run ? ": it changes nothing, whenever it is decided; `resequencer stats` says whether an "
                                  "instance runs and has them, and which are parked"
                                : ": it happens when an instance has them; the events topic will tell. Doing it again" +
                                      again_ + " is harmless")};
    std::string refused;
    for (const auto& [partition, event] : told) {
      const std::string reason = text_in(event, "reason", "");
      if (reason.empty() || reason == "no_change" || reason == "duplicate") continue;  // it is as it should be
      refused += (refused.empty() ? "" : ", ") + std::to_string(partition) + " (" + reason + ")";
    }
    if (refused.empty()) return Done{};
    const bool unknown = name_ == "release" && refused.find("(unregistered)") != std::string::npos;
    return invalid(
        name_ + " was refused in partition " + refused + ": " +
        (unknown ? "no request as new as this result is known for its target: a newer result may have gone out and be "
                   "forgotten, and requests below its number would be stopped; --unknown releases it all the same"
                 : "see schemas/reasons.md"));
  }

  runtime::Application application_;
  std::string name_;
  OperationOptions options_;
  std::string drawn_;  // of this operation alone: its event is told from all others by it
  std::string control_id_;
  std::string again_;  // how it is to be done again, if that makes a difference
  std::vector<OwnedHeader> headers_;
};

}  // namespace

void put(const std::string& json, const OperationOptions& options) {
  if (options.told != nullptr)
    *options.told = json;
  else
    std::fputs(json.c_str(), stdout);
}

std::string draw_control_id() {
  std::random_device random;
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "op-%08x%08x", random(), random());
  return text.data();
}

Result<> check_target(const config::Settings& settings, const std::optional<std::string>& target) {
  const auto& all = settings.targets;
  const auto is_it = [&](const config::Target& one) { return one.name == target; };
  if (!target || std::any_of(all.begin(), all.end(), is_it)) return Done{};
  std::string names;
  for (const config::Target& one : all) names += (names.empty() ? "" : ", ") + one.name;
  return invalid("there is no target \"" + *target + "\": there are " + names);
}

Result<> check_operation(const config::Settings& settings, const std::optional<std::string>& target,
                         const OperationOptions& options) {
  if (!codec::is_utf8(options.control_id) || options.control_id.size() > kControlIdBytesMax)
    return invalid("--control-id must be UTF-8 text of at most " + std::to_string(kControlIdBytesMax) + " bytes");
  return check_target(settings, target);
}

Result<UnixMs> date_to_wait_for(const std::string& text, UnixMs now, Milliseconds most) {
  const auto ms = codec::parse_date_ms(text);
  if (!ms) return invalid("--until \"" + text + "\" is no date: milliseconds since 1970, or as 2026-11-28T18:00:00Z");
  if (*ms <= now.value()) return invalid("--until " + text + " has passed: that postpones nothing");
  if (*ms - now.value() > most.value())
    return invalid("--until " + text + " is further ahead than dispatch.process_at_max_ms = " +
                   std::to_string(most.value()) + " lets anything wait");
  return UnixMs(*ms);
}

Result<> expire(const config::Settings& settings, const ExpireRequest& wanted, const OperationOptions& options) {
  if (wanted.id.empty()) return invalid("the id is empty: no document has that");
  Operation operation(settings, "expire", options);
  if (auto known = operation.knows(wanted.target, wanted.expected); !known) return known;
  if (wanted.target) operation.add(header::kTarget, *wanted.target);
  operation.expect(wanted.expected);
  return operation.run_for(wanted.id, std::nullopt, wanted.partition);
}

Result<> dispatch(const config::Settings& settings, const ExpireRequest& wanted,
                  const std::optional<std::string>& until, const OperationOptions& options) {
  if (wanted.id.empty()) return invalid("the id is empty: no document has that");
  Operation operation(settings, until ? "dispatch-postpone" : "dispatch-now", options);
  if (auto known = operation.knows(wanted.target, wanted.expected); !known) return known;
  if (until) {
    const UnixMs now(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
    const auto date = date_to_wait_for(*until, now, Milliseconds(settings.dispatch_process_at_max_ms));
    if (!date) return date.error();
    operation.add(header::kProcessAt, std::to_string(date.value().value()));
  }
  if (wanted.target) operation.add(header::kTarget, *wanted.target);
  operation.expect(wanted.expected);
  return operation.run_for(wanted.id, std::nullopt, wanted.partition);
}

Result<> skip(const config::Settings& settings, const SkipRequest& wanted, const OperationOptions& options) {
  if (wanted.id.empty()) return invalid("the id is empty: no document has that");
  Operation operation(settings, "skip", options);
  if (auto known = operation.knows(wanted.target, {}); !known) return known;
  const auto is_it = [&](const config::Target& one) { return one.name == wanted.target; };
  const auto target = std::find_if(settings.targets.begin(), settings.targets.end(), is_it);
  if (!config::is_ordered(*target))
    return invalid("target " + target->name +
                   " is neither strict nor total: nothing of it waits for another document; " +
                   "`expire` gives up what it waits for");
  std::optional<std::int32_t> partition = wanted.partition;
  if (wanted.sequence) {
    if (auto fits = operation.fits("--seq", *wanted.sequence); !fits) return fits;
    operation.add_order(*wanted.sequence, std::to_string(wanted.epoch));
  } else {
    const auto found = waited_for(settings, wanted.id, wanted.target, options.ask);
    if (!found) return found.error();
    const Json& head = found.value().head;
    if (options.ask.view != View::kJson)
      std::printf("%s waits for %s\n", wanted.target.c_str(), log::one_line(lane_head_text(head)).c_str());
    const Json order = member(head, "order");
    operation.add_order(admin::raw_bytes_in(order, "seq"), std::to_string(number_in(order, "epoch")));
    if (!partition) partition = found.value().partition;
  }
  operation.add(header::kTarget, wanted.target);
  return operation.run_for(wanted.id, std::nullopt, partition);
}

Result<> raise_version_floor(const config::Settings& settings, const FloorRequest& wanted,
                             const OperationOptions& options) {
  Operation operation(settings, "raise-version-floor", options);
  if (auto known = operation.knows(wanted.target, {}); !known) return known;
  operation.add(header::kVersion, std::to_string(wanted.version));
  if (wanted.target) operation.add(header::kTarget, *wanted.target);
  if (wanted.expected) operation.add(header::kControlExpectedVersion, std::to_string(*wanted.expected));
  return operation.run_for(wanted.partition);
}

Result<> pause(const config::Settings& settings, bool paused, std::optional<std::int32_t> partition,
               const OperationOptions& options) {
  Operation operation(settings, paused ? "pause" : "resume", options);
  if (auto known = operation.knows({}, {}); !known) return known;
  return operation.run_for(partition);
}

Result<> resume_target(const config::Settings& settings, const std::string& target,
                       std::optional<std::int32_t> partition, const OperationOptions& options) {
  Operation operation(settings, "resume-target", options);
  if (auto known = operation.knows(target, {}); !known) return known;
  operation.add(header::kTarget, target);
  return operation.run_for(partition);
}

Result<> release(const config::Settings& settings, const ReleaseRequest& wanted, const OperationOptions& options) {
  const LetterPlace& place = wanted.place;
  Operation operation(settings, "release", options);
  if (auto known = operation.knows({}, wanted.expected); !known) return known;
  const auto letter = read_dead_letter(operation.application(), place);
  if (!letter) return letter.error();
  if (letter.value().text(header::kCommand) != "sequence" || !letter.value().key)
    return invalid(text_of(place) + " is no result: only results can be released; `dead-letter redrive` sends others");
  if (const auto name = letter.value().left_out())
    return invalid(text_of(place) + ": a part of it was left out (" + *name + ")");
  // It would be one more dead letter, also of a dry run.
  const std::string target = letter.value().text(header::kTarget);
  if (auto known = check_target(settings, target.empty() ? std::nullopt : std::optional(target)); !known) return known;
  for (const auto& [name, value] : letter.value().input_headers())
    if (!name.starts_with(header::kControl) && !codec::is_of_journal(name)) operation.add(name, value);
  operation.expect(wanted.expected);
  const bool unchecked = operation.application().partitioner == Partitioner::kUnchecked;
  if (wanted.unknown) operation.add(header::kControlUnknown, "true");
  return operation.run_for(*letter.value().key, letter.value().payload,
                           unchecked ? letter.value().source_partition() : std::nullopt);
}

}  // namespace reseq::cli
