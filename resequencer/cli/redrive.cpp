#include "cli/redrive.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "admin/json_text.h"
#include "base/log.h"
#include "cli/read_again.h"
#include "cli/refusal.h"
#include "cli/session.h"
#include "cli/show.h"
#include "cli/writing.h"
#include "codec/header_names.h"
#include "runtime/application/clock.h"

namespace reseq::cli {

namespace {

using admin::Json;

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
  const ReadAgain again = read_again(letter, application);
  if (again.refused)
    return invalid("it would be a dead letter again (" + std::string(name_of(*again.refused)) +
                   "); send it anew, repaired, or repair the configuration if that is at fault");
  if (now.epoch_raised && needs_default_epoch(letter, settings))
    return invalid(
        "a request without an epoch, and the default epoch was raised: it would count as newer than it is; send it "
        "with reseq-epoch");
  const bool too_old =
      settings.watermark_retention_ms != 0 &&
      runtime::SystemClock().now().value() - letter.first_written().value() >= settings.watermark_retention_ms;
  if (again.registers && too_old && !now.old)
    return invalid(
        "a " + std::string(topic == settings.topic_requests ? "request" : "REGISTER") +
        " older than watermark_retention_ms: newer ones may be forgotten, and it would undo them; --old sends "
        "it all the same");
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
  if (read_again(letter, application).registers)
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
    auto found = find_letters(application, filter);
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
