#include "cli/dead_letters.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <deque>
#include <set>

#include "admin/document_json.h"
#include "admin/json_text.h"
#include "base/log.h"
#include "cli/progress.h"
#include "cli/refusal.h"
#include "cli/refused_again.h"
#include "cli/session.h"
#include "cli/show.h"
#include "cli/table.h"
#include "cli/writing.h"
#include "codec/dead_letter.h"
#include "codec/header_names.h"
#include "kafka/admin.h"
#include "runtime/clients.h"
#include "runtime/clock.h"
#include "runtime/letters.h"
#include "runtime/log_reading.h"

namespace reseq::cli {

namespace {

using admin::Json;
using runtime::LogReading;

constexpr std::size_t kShownBytes = 2'000;  // of a payload on a terminal

std::string id_text(const DeadLetter& letter) {
  return letter.key ? log::one_line(*letter.key) : std::string("(no key)");
}

std::string source_text(const DeadLetter& letter) {
  namespace header = codec::header;
  return letter.text(header::kSourceTopic) + "[" + letter.text(header::kSourcePartition) + "]@" +
         letter.text(header::kSourceOffset);
}

bool fits(const DeadLetter& letter, const LetterFilter& filter, UnixMs now) {
  if (!filter.reason.empty() && letter.text(codec::header::kReason) != filter.reason) return false;
  if (!filter.id_prefix.empty() && !letter.key.value_or("").starts_with(filter.id_prefix)) return false;
  return filter.since == Milliseconds(0) || now.value() - letter.at.value() <= filter.since.value();
}

struct FoundLetters {
  std::vector<DeadLetter> letters;  // the newest that fit, oldest first
  std::size_t others = 0;           // that fit and are older
  runtime::LetterCounts counts;     // of all that fit
};

Result<FoundLetters> find(const runtime::Application& application, const LetterFilter& filter) {
  auto log = LogReading::open(application, application.settings.topic_dead_letter);
  if (!log) return runtime::with_fix(log.error(), application.settings);
  const UnixMs now = runtime::SystemClock().now();
  const auto enough = static_cast<std::size_t>(filter.letters_max);
  FoundLetters found;
  const runtime::GoOn progress = progress_of(application.settings.topic_dead_letter);
  for (std::int32_t p = 0; p < log.value().partitions(); ++p) {
    std::deque<DeadLetter> newest;
    const auto visit = [&](const kafka::Record& record) {
      DeadLetter letter = dead_letter_of(record);
      if (!fits(letter, filter, now)) return;
      found.counts.add(letter.text(codec::header::kReason), letter.at);
      newest.push_back(std::move(letter));
      if (newest.size() > enough) newest.pop_front(), ++found.others;
    };
    const auto read = log.value().read(Partition(p), visit, progress);
    if (!read) return read.error();
    std::move(newest.begin(), newest.end(), std::back_inserter(found.letters));
  }
  std::stable_sort(found.letters.begin(), found.letters.end(),
                   [](const DeadLetter& a, const DeadLetter& b) { return a.at < b.at; });
  if (found.letters.size() > enough) {
    const std::size_t more = found.letters.size() - enough;
    found.letters.erase(found.letters.begin(), found.letters.begin() + static_cast<std::ptrdiff_t>(more));
    found.others += more;
  }
  return found;
}

Json json_of(const DeadLetter& letter) {
  Json object = {{"place", text_of(letter.place)},
                 {"time", admin::time_text(letter.at)},
                 {"first_written", admin::time_text(letter.first_written())},
                 {"reason", letter.text(codec::header::kReason)},
                 {"source", source_text(letter)}};
  if (letter.key) admin::set_bytes(object, "id", *letter.key);
  return object;
}

// How keys become partitions; without a number of them nobody can say where a key belongs.
struct Placing {
  Partitioner partitioner = Partitioner::kUnchecked;
  std::int32_t partitions = 0;
};

// Operations name their partition, whatever the key.
bool is_misrouted(const DeadLetter& letter) {
  return letter.text(codec::header::kReason) == name_of(Reason::kMisrouted) && letter.key &&
         letter.source_partition() && letter.text(codec::header::kControl).empty();
}

// Asked only if a letter needs it; brokers that do not tell leave the letters without it.
Placing placing_for(const runtime::Application& application, const std::vector<DeadLetter>& letters) {
  Placing placing{application.partitioner};
  if (std::none_of(letters.begin(), letters.end(), is_misrouted)) return placing;
  auto admin = kafka::Admin::open(runtime::cluster_settings_of(application, std::nullopt).connection);
  if (!admin) return placing;
  const auto count = admin.value()->partition_count(application.settings.topic_requests, runtime::kBrokerAnswerLimit);
  placing.partitions = count ? count.value() : 0;
  return placing;
}

std::optional<runtime::Misplaced> misplacement_of(const DeadLetter& letter, const Placing& placing) {
  if (!is_misrouted(letter)) return std::nullopt;
  return runtime::misplaced(*letter.key, Partition(*letter.source_partition()), placing.partitioner,
                            placing.partitions);
}

void add_misplacement(Json& object, const DeadLetter& letter, const Placing& placing) {
  const auto misplaced = misplacement_of(letter, placing);
  if (!misplaced) return;
  object["belongs_to"] = misplaced->belongs_to.value();
  object["fix"] = runtime::fix_of(*misplaced, placing.partitioner);
}

// Each once.
std::set<std::string> fixes_of(const std::vector<DeadLetter>& letters, const Placing& placing) {
  std::set<std::string> fixes;
  for (const DeadLetter& letter : letters)
    if (const auto misplaced = misplacement_of(letter, placing))
      fixes.insert(runtime::fix_of(*misplaced, placing.partitioner));
  return fixes;
}

// By reason; empty when there are none.
std::string counts_text(const runtime::LetterCounts& counts) {
  if (counts.by_reason().empty()) return "";
  Table table({"REASON", "LETTERS", "OLDEST", "NEWEST"});
  for (const Json& one : counts.json())
    table.add({admin::text_in(one, "reason"), admin::number_text(one, "letters"), admin::text_in(one, "oldest"),
               admin::text_in(one, "newest")});
  return "\n" + table.text();
}

// What decides whether requests can go back.
struct Now {
  bool old = false;                   // those may that are older than what is remembered
  bool epoch_raised = false;          // a request without an epoch would get a higher one than it had
  std::string epoch_unknown_of = {};  // partitions that do not tell whether that is so; empty: all have told
};

bool needs_default_epoch(const DeadLetter& letter, const config::Settings& settings) {
  return letter.text(codec::header::kSourceTopic) == settings.topic_requests && !letter.has(codec::header::kEpoch) &&
         !letter.has(codec::header::kControl);
}

// Why it cannot go back to where it came from. kTimeout: not now.
std::optional<Error> obstacle(const DeadLetter& letter, const runtime::Application& application, const Now& now) {
  namespace header = codec::header;
  const config::Settings& settings = application.settings;
  const std::string topic = letter.text(header::kSourceTopic);
  if (topic != settings.topic_requests && topic != settings.topic_commands)
    return invalid("it came from " + log::one_line(topic) + ", which is none of " + settings.topic_requests + " and " +
                   settings.topic_commands);
  if (!letter.source_partition()) return invalid("it does not say where it came from");
  if (const auto name = letter.left_out())
    return invalid(*name + ": a part of it was left out; write it again from where it is whole");
  if (const auto reason = refused_again(letter, application))
    return invalid("it would be a dead letter again (" + std::string(name_of(*reason)) +
                   "); send it anew, repaired, or repair the configuration if that is at fault");
  if (now.epoch_raised && needs_default_epoch(letter, settings))
    return invalid(
        "a request without an epoch, and the default epoch was raised: it would count as newer than it is; send it "
        "with reseq-epoch");
  const bool too_old =
      settings.watermark_retention_ms != 0 &&
      runtime::SystemClock().now().value() - letter.first_written().value() >= settings.watermark_retention_ms;
  if (topic == settings.topic_requests && too_old && !now.old)
    return invalid(
        "a request older than watermark_retention_ms: newer ones may be forgotten, and it would undo them; --old "
        "sends it all the same");
  if (!now.epoch_unknown_of.empty() && needs_default_epoch(letter, settings))
    return Error{ErrorClass::kTimeout, 0,
                 "a request without an epoch goes only while all partitions run and tell whether the default epoch was "
                 "raised; not told: " +
                     now.epoch_unknown_of};
  return std::nullopt;
}

// What a request without an epoch had was the default of then, which nobody remembers. Asked only if one would go.
Result<Now> now_for(const std::vector<DeadLetter>& letters, const runtime::Application& application, bool old) {
  const config::Settings& settings = application.settings;
  Now now{.old = old};
  const auto needs = [&](const DeadLetter& each) {
    return needs_default_epoch(each, settings) && !obstacle(each, application, now);
  };
  if (std::none_of(letters.begin(), letters.end(), needs)) return now;
  auto session = Session::open(settings, {});
  if (!session) return session.error();
  // While it is taken over a partition tells what its copy has, which may be old, or nothing.
  const auto runs = [](const Json& part) { return admin::text_in(part, "state") == "running"; };
  admin::Answers answers;
  const auto all_run = [&](const admin::Answers& got) { return got.lacking(runs).empty(); };
  if (auto asked = session.value()->collect(admin::StatsQuery{}, answers, all_run); !asked) return asked.error();
  now.epoch_unknown_of = answers.lacking(runs);
  const auto& parts = answers.partitions();
  now.epoch_raised = std::any_of(parts.begin(), parts.end(),
                                 [](const auto& part) { return admin::number_in(part.second, "default_epoch") != 0; });
  return now;
}

// By its key, as the producer should have done it; a RESET, and what has no key or no known partitioner, to where it
// was. A request without an epoch had epoch 0, because the default was never raised. Said so, it keeps it, also behind
// a RESET that is written and not decided yet.
Result<> send_again(Writing& writing, const DeadLetter& letter, const runtime::Application& application) {
  std::optional<Partition> partition;
  if (!letter.key || letter.has(codec::header::kControl) || application.partitioner == Partitioner::kUnchecked)
    partition = Partition(*letter.source_partition());
  std::vector<OwnedHeader> headers = letter.input_headers();
  if (needs_default_epoch(letter, application.settings)) headers.emplace_back(codec::header::kEpoch, "0");
  if (letter.text(codec::header::kSourceTopic) == application.settings.topic_requests)
    headers.emplace_back(codec::header::kFirstWritten, std::to_string(letter.first_written().value()));
  return writing.send(letter.text(codec::header::kSourceTopic), letter.key, letter.payload, headers, partition);
}

// All of them, acknowledged.
Result<> send_all(const runtime::Application& application, const std::vector<DeadLetter>& letters) {
  auto writing = Writing::open(application);
  if (!writing) return writing.error();
  Result<> sent = Done{};
  for (const DeadLetter& letter : letters)
    if (sent = send_again(writing.value(), letter, application); !sent) break;
  const Result<> finished = writing.value().finish();
  if (sent && finished) return Done{};
  Error error = sent ? finished.error() : sent.error();
  error.message = "not all " + std::to_string(letters.size()) + " were sent: " + error.message +
                  ". To send them again is harmless: what has arrived is a duplicate then";
  return error;
}

Result<std::vector<DeadLetter>> named(const runtime::Application& application, const std::vector<LetterPlace>& places,
                                      const LetterFilter& filter) {
  if (places.empty()) {
    auto found = find(application, filter);
    if (!found) return found.error();
    if (found.value().others > 0)
      return invalid("there are " + std::to_string(found.value().others) + " more than --max " +
                     std::to_string(filter.letters_max) + ": raise it, or choose fewer");
    return std::move(found.value().letters);
  }
  std::vector<DeadLetter> letters;
  for (const LetterPlace& place : places) {
    auto letter = read_dead_letter(application, place);
    if (!letter) return letter.error();
    letters.push_back(std::move(letter).value());
  }
  return letters;
}

// Those that can go back to where they came from, and how many might later.
struct Fit {
  std::vector<DeadLetter> letters;
  std::size_t not_now = 0;
};

// One that was named and cannot go is an error; another one is told of.
Result<Fit> fit_to_go(const std::vector<DeadLetter>& letters, const runtime::Application& application, bool were_named,
                      const Now& now) {
  Fit fit;
  for (const DeadLetter& letter : letters) {
    auto why = obstacle(letter, application, now);
    if (!why) {
      fit.letters.push_back(letter);
      continue;
    }
    why->message = text_of(letter.place) + ": " + why->message;
    if (were_named) return *why;
    std::fprintf(stderr, "resequencer: left out: %s\n", why->message.c_str());
    if (why->what_to_do == ErrorClass::kTimeout) ++fit.not_now;
  }
  return fit;
}

void print(const std::vector<DeadLetter>& letters, const RedriveOptions& options) {
  if (options.view == View::kJson) {
    Json gone = Json::array();
    for (const DeadLetter& letter : letters) gone.push_back(json_of(letter));
    print_json({{"dry_run", options.dry_run}, {"dead_letters", std::move(gone)}});
    return;
  }
  for (const DeadLetter& letter : letters)
    std::printf("%s  %s  %s to %s\n", text_of(letter.place).c_str(), id_text(letter).c_str(),
                options.dry_run ? "would go" : "sent", log::one_line(letter.text(codec::header::kSourceTopic)).c_str());
}

}  // namespace

std::optional<LetterPlace> parse_place(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::int32_t partition = -1;
  std::int64_t offset = -1;
  const char* const middle = text.data() + colon;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), middle, partition);
  const auto second = std::from_chars(middle + 1, end, offset);
  if (first.ec != std::errc() || first.ptr != middle || second.ec != std::errc() || second.ptr != end)
    return std::nullopt;
  if (partition < 0 || offset < 0) return std::nullopt;
  return LetterPlace{Partition(partition), Offset(offset)};
}

std::string text_of(const LetterPlace& place) {
  return std::to_string(place.partition.value()) + ":" + std::to_string(place.offset.value());
}

std::string DeadLetter::text(std::string_view name) const {
  const auto found =
      std::find_if(headers.rbegin(), headers.rend(), [&](const auto& each) { return each.first == name; });
  return found == headers.rend() ? std::string() : found->second.value_or("");
}

std::optional<std::string> DeadLetter::left_out() const {
  namespace header = codec::header;
  for (const auto name : {header::kPayloadOmitted, header::kHeadersOmitted, header::kKeyOmitted})
    if (has(name)) return std::string(name);
  return std::nullopt;
}

std::optional<std::int32_t> DeadLetter::source_partition() const {
  const std::string digits = text(codec::header::kSourcePartition);
  std::int32_t number = -1;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return parsed.ec == std::errc() && number >= 0 ? std::optional(number) : std::nullopt;
}

bool DeadLetter::has(std::string_view name) const {
  return std::any_of(headers.begin(), headers.end(), [&](const auto& each) { return each.first == name; });
}

UnixMs DeadLetter::first_written() const {
  const auto said = codec::parse_first_written(text(codec::header::kFirstWritten));
  return said ? std::min(*said, at) : at;
}

std::vector<OwnedHeader> DeadLetter::input_headers() const {
  std::vector<OwnedHeader> kept;
  std::copy_if(headers.begin(), headers.end(), std::back_inserter(kept),
               [](const OwnedHeader& each) { return !codec::is_added_to_dead_letters(each.first); });
  return kept;
}

DeadLetter dead_letter_of(const kafka::Record& record) {
  DeadLetter letter;
  letter.place = {record.where.partition, record.offset};
  letter.at = record.timestamp;
  if (record.key) letter.key = std::string(*record.key);
  if (record.payload) letter.payload = std::string(*record.payload);
  for (const Header& header : record.headers)
    letter.headers.emplace_back(header.name, header.value ? std::optional(std::string(*header.value)) : std::nullopt);
  return letter;
}

Result<DeadLetter> read_dead_letter(const runtime::Application& application, const LetterPlace& place) {
  auto log = LogReading::open(application, application.settings.topic_dead_letter);
  if (!log) return runtime::with_fix(log.error(), application.settings);
  DeadLetter letter;
  const auto read = log.value().read_one(place.partition, place.offset,
                                         [&](const kafka::Record& record) { letter = dead_letter_of(record); });
  if (!read) return read.error();
  return letter;
}

Result<> list_dead_letters(const config::Settings& settings, const LetterFilter& filter, View view) {
  const runtime::Application application(settings);
  const auto read = find(application, filter);
  if (!read) return read.error();
  const FoundLetters& found = read.value();
  const Placing placing = placing_for(application, found.letters);
  if (view == View::kJson) {
    Json letters = Json::array();
    for (const DeadLetter& letter : found.letters) {
      Json one = json_of(letter);
      add_misplacement(one, letter, placing);
      letters.push_back(std::move(one));
    }
    print_json({{"more", found.others}, {"dead_letters", std::move(letters)}, {"reasons", found.counts.json()}});
    return Done{};
  }
  Table table({"PLACE", "TIME", "REASON", "ID", "SOURCE"});
  for (const DeadLetter& letter : found.letters) {
    const auto misplaced = misplacement_of(letter, placing);
    table.add(
        {text_of(letter.place), admin::time_text(letter.at), letter.text(codec::header::kReason),
         id_cell(letter.key.value_or("(no key)")),
         source_text(letter) + (misplaced ? ", belongs to " + std::to_string(misplaced->belongs_to.value()) : "")});
  }
  std::fputs(table.text().c_str(), stdout);
  std::fputs(counts_text(found.counts).c_str(), stdout);
  for (const std::string& fix : fixes_of(found.letters, placing)) std::printf("misrouted: %s\n", fix.c_str());
  if (found.others > 0)
    std::fprintf(stderr, "resequencer: %zu older ones fit as well: --max shows more of them\n", found.others);
  return Done{};
}

Result<> show_dead_letter(const config::Settings& settings, const LetterPlace& place, View view) {
  const runtime::Application application(settings);
  const auto read = read_dead_letter(application, place);
  if (!read) return read.error();
  const DeadLetter& letter = read.value();
  const Placing placing = placing_for(application, {letter});
  if (view == View::kJson) {
    Json object = json_of(letter);
    add_misplacement(object, letter, placing);
    object["headers"] = Json::array();
    for (const auto& [name, value] : letter.headers) {
      Json header = Json::object();
      admin::set_bytes(header, "name", name);
      if (value) admin::set_bytes(header, "value", *value);
      object["headers"].push_back(std::move(header));
    }
    if (letter.payload) admin::set_bytes(object, "payload", *letter.payload);
    print_json(object);
    return Done{};
  }
  std::printf("id       %s\nreason   %s\nsource   %s\nwritten  %s\n", id_text(letter).c_str(),
              log::one_line(letter.text(codec::header::kReason)).c_str(), log::one_line(source_text(letter)).c_str(),
              admin::time_text(letter.at).c_str());
  if (const auto misplaced = misplacement_of(letter, placing))
    std::printf("belongs  to partition %d; %s\n", misplaced->belongs_to.value(),
                runtime::fix_of(*misplaced, placing.partitioner).c_str());
  for (const auto& [name, value] : letter.headers)
    std::printf("header   %s = %s\n", log::one_line(name).c_str(), value ? log::one_line(*value).c_str() : "(null)");
  if (!letter.payload)
    std::printf("payload  (null)\n");
  else
    std::printf("payload  %zu bytes: %s\n", letter.payload->size(),
                log::one_line(std::string_view(*letter.payload).substr(0, kShownBytes)).c_str());
  return Done{};
}

Result<> redrive(const config::Settings& settings, const std::vector<LetterPlace>& places, const LetterFilter& filter,
                 const RedriveOptions& options) {
  const runtime::Application application(settings);
  const auto found = named(application, places, filter);
  if (!found) return found.error();
  const auto now = now_for(found.value(), application, options.old);
  if (!now) return now.error();
  const auto fit = fit_to_go(found.value(), application, !places.empty(), now.value());
  if (!fit) return fit.error();
  if (!options.dry_run)
    if (auto sent = send_all(application, fit.value().letters); !sent) return sent;
  print(fit.value().letters, options);
  if (fit.value().not_now == 0) return Done{};
  return Error{ErrorClass::kTimeout, 0,
               std::to_string(fit.value().not_now) +
                   " of them, named above, cannot go before all partitions run: try again then"};
}

}  // namespace reseq::cli
