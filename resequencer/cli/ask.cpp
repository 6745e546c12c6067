#include "cli/ask.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>

#include "admin/answers.h"
#include "admin/failure_answers.h"
#include "admin/json_text.h"
#include "base/log.h"
#include "cli/lane_text.h"
#include "cli/operations.h"
#include "cli/progress.h"
#include "cli/queue_text.h"
#include "cli/selection.h"
#include "cli/session.h"
#include "cli/show.h"
#include "cli/why.h"
#include "codec/base64.h"
#include "runtime/application/application.h"
#include "runtime/application/clients.h"
#include "runtime/application/clock.h"
#include "runtime/application/event_history.h"
#include "runtime/application/letters.h"

namespace reseq::cli {

namespace {

using admin::Json;
using admin::text_in;
using runtime::PastEvent;
constexpr std::chrono::milliseconds kWatchEvery{2'000};
constexpr std::size_t kLettersShown = 3;  // of a document

Error nobody(const Answers& answers) {
  if (answers.total() == 0)
    return {ErrorClass::kTimeout, 0, "no instance answers: is one running, and may it read the admin topic?"};
  if (!answers.parked().empty())
    return {ErrorClass::kTimeout, 0,
            "not answered for partitions " + answers.lacking() + ", " + why_unanswered(answers)};
  return {ErrorClass::kTimeout, 0,
          "not answered for partitions " + answers.lacking() +
              ": they are being taken over, or no instance has them; ask again"};
}

// What a program gets: the parts, and whether they are all.
void print_answers(const Answers& answers, bool complete) {
  print_json(Json{{"complete", complete}, {"partitions", answers.parts()}});
}

// False: there is none.
bool for_each_document(const Answers& answers,
                       const std::function<void(const Json& part, const Json& document)>& visit) {
  bool any = false;
  for (const auto& [partition, part] : answers.partitions())
    for (const Json& document : part.value("documents", Json::array())) {
      any = true;
      visit(part, document);
    }
  return any;
}

Error unknown(const std::string& id, const Answers& answers) {
  return {ErrorClass::kInvalid, 0, "document " + log::outside(id) + " is not known: " + why_unknown(answers)};
}

Error unowned(const Answers& answers) {
  return {ErrorClass::kTimeout, 0, "nobody answers for the partition of this document: " + why_unanswered(answers)};
}

// What was found so far, of all partitions.
struct Listing {
  Json documents = Json::array();
  bool more = false;       // there are more than were asked for
  std::string unfinished;  // partitions that were not listed to their ends, as "1, 3"

  void note_unfinished(Partition partition) {
    unfinished += (unfinished.empty() ? "" : ", ") + std::to_string(partition.value());
  }
};

// Pages of one partition until it has ended or there are enough.
Result<> more_pages(Session& session, admin::ListQuery query, const Json& first, const ListOptions& wanted,
                    Listing& found) {
  const auto documents_max = static_cast<std::size_t>(wanted.documents_max);
  Json part = first;
  for (;;) {
    for (Json document : part.value("documents", Json::array())) {
      if (!document.is_object()) continue;
      if (wanted.target && !is_because_of(*wanted.target, document, wanted.state, wanted.error)) continue;
      // An instance of a version without this question lists what failed of anything.
      if (!wanted.error.is_any() && causing_targets(document, wanted.state, wanted.error).empty()) continue;
      found.more = found.documents.size() >= documents_max;
      if (found.more) return Done{};
      document["partition"] = query.partition->value();
      found.documents.push_back(std::move(document));
    }
    const auto cursor = codec::parse_base64(text_in(part, "cursor", ""));
    if (!cursor || cursor->empty()) return Done{};
    query.cursor = *cursor;
    Answers page;
    if (auto asked = session.collect(query, page, all_asked); !asked) return asked;
    if (!all_asked(page)) {
      found.note_unfinished(*query.partition);
      return Done{};
    }
    part = page.partitions().begin()->second;
  }
}

// What `why` found out.
struct Found {
  Answers answers;
  runtime::EventHistory events;
  Json letters = Json::array();  // newest first
  runtime::LetterHistory letter_history;
};

runtime::HistoryLimits limits_of(const WhyOptions& wanted) {
  if (wanted.all) return {.events_max = SIZE_MAX / 2, .time_max = Milliseconds(0)};
  return {.events_max = static_cast<std::size_t>(wanted.last)};
}

// They are told of beside the rest: without the right to read them all else is.
void look_at_letters(const runtime::Application& application, const std::string& id, const WhyOptions& wanted,
                     Found& found) {
  const std::string& topic = application.settings.topic_dead_letter;
  const Milliseconds time_max = wanted.all ? Milliseconds(0) : runtime::kLettersTime;
  auto read = runtime::read_letters_of(application, id, kLettersShown, time_max, progress_of(topic));
  if (!read) {
    std::fprintf(stderr, "resequencer: dead letters cannot be read: %s\n", read.error().message.c_str());
    return;
  }
  found.letter_history = std::move(read).value();
  const auto partitions = static_cast<std::int32_t>(found.answers.total());
  for (const runtime::PastLetter& letter : found.letter_history.letters)
    found.letters.push_back(runtime::letter_json(letter, id, application.partitioner, partitions));
}

void print_found_json(const Found& found) {
  Json past = Json::array();
  for (const PastEvent& event : found.events.events) past.push_back(runtime::event_json(event));
  Json all = {{"complete", all_asked(found.answers)},
              {"partitions", found.answers.parts()},
              {"dead_letters", found.letters},
              {"more_dead_letters", found.letter_history.others},
              {"events", std::move(past)},
              {"more_events", found.events.more}};
  if (found.events.unread.offsets > 0) all["unread_events"] = runtime::unread_json(found.events.unread);
  if (found.letter_history.unread.offsets > 0)
    all["unread_dead_letters"] = runtime::unread_json(found.letter_history.unread);
  print_json(all);
}

void print_found(const Found& found, View view, const config::Settings& settings) {
  const bool known = for_each_document(found.answers, [&](const Json& part, const Json& document) {
    std::fputs(standing_text(part, document).c_str(), stdout);
    std::fputs(queue_text(part, document).c_str(), stdout);
    std::fputs(failures_text(document).c_str(), stdout);
    std::fputs(older_text(part, document, found.events.events, settings.topic_requests).c_str(), stdout);
    std::fputs(stopped_text(document, found.events.events).c_str(), stdout);
  });
  if (!known && all_asked(found.answers) && !found.letters.empty())
    std::puts("no target knows it: none of its requests was accepted, or it completed and was forgotten");
  std::fputs(letters_text(found.letters, found.letter_history.others).c_str(), stdout);
  const runtime::EventHistory& history = found.events;
  if (!history.events.empty()) std::fputs(timeline_text(history.events, view).c_str(), stdout);
  const std::vector<std::string> notes = {history.more ? "there are older events: --last N or --all shows more" : "",
                                          unread_text(history.unread, settings.topic_events),
                                          unread_text(found.letter_history.unread, settings.topic_dead_letter)};
  for (const std::string& note : notes)
    if (!note.empty()) std::puts(note.c_str());
}

}  // namespace

Result<> describe(const config::Settings& settings, const std::string& id, const AskOptions& options) {
  auto session = Session::open(settings, options);
  if (!session) return session.error();
  Answers answers;
  if (auto asked = session.value()->collect(admin::DocumentQuery{id}, answers, all_asked); !asked) return asked;
  if (options.view == View::kJson) print_answers(answers, all_asked(answers));
  const bool found = for_each_document(answers, [&](const Json& part, const Json& document) {
    if (options.view != View::kJson) std::fputs(document_text(part, document).c_str(), stdout);
  });
  if (found) return Done{};
  if (!all_asked(answers)) return unowned(answers);
  Error error = unknown(id, answers);
  error.message += "; or its requests are dead letters, which `why` names";
  return error;
}

Result<> why(const config::Settings& settings, const std::string& id, const WhyOptions& wanted,
             const AskOptions& options) {
  auto session = Session::open(settings, options);
  if (!session) return session.error();
  Found found;
  if (auto asked = session.value()->collect(admin::DocumentQuery{id}, found.answers, all_asked); !asked) return asked;
  const runtime::Application application(settings);
  const runtime::HistoryOf document{id, runtime::borders_of(found.answers.parts(), settings.topic_requests)};
  auto events =
      runtime::read_events_of(application, document, limits_of(wanted), progress_of(application.settings.topic_events));
  if (!events) return runtime::with_fix(events.error(), application.settings);
  found.events = std::move(events).value();
  look_at_letters(application, id, wanted, found);
  options.view == View::kJson ? print_found_json(found) : print_found(found, options.view, application.settings);
  if (!all_asked(found.answers)) return unowned(found.answers);
  const bool known = for_each_document(found.answers, [](const Json&, const Json&) {});
  if (known || !found.events.events.empty() || !found.letters.empty()) return Done{};
  Error error = unknown(id, found.answers);
  if (found.letter_history.unread.offsets > 0) error.message += "; or its requests are dead letters that were not read";
  return error;
}

Result<> list(const config::Settings& settings, const ListOptions& wanted, const AskOptions& options) {
  if (auto known = check_target(settings, wanted.target); !known) return known;
  auto session = Session::open(settings, options);
  if (!session) return session.error();
  admin::ListQuery query;
  query.id_prefix = wanted.id_prefix;
  query.state = wanted.state;
  query.older_than = wanted.older_than;
  query.error = wanted.error;
  // Those of other targets are left out here, of pages as large as they may be.
  const std::int64_t page_max = wanted.target ? INT64_MAX : wanted.documents_max;
  query.documents_max = static_cast<std::size_t>(std::min<std::int64_t>(page_max, admin::kPageDocumentsMax));
  Answers answers;
  if (auto asked = session.value()->collect(query, answers, whole); !asked) return asked;
  Listing found;
  for (const auto& [partition, part] : answers.partitions()) {
    if (is_refused(part)) continue;
    query.partition = Partition(static_cast<std::int32_t>(partition));
    if (auto paged = more_pages(*session.value(), query, part, wanted, found); !paged) return paged;
  }
  const bool complete = answers.complete() && found.unfinished.empty();
  if (options.view == View::kJson) {
    print_json(Json{{"complete", complete}, {"more", found.more}, {"documents", found.documents}});
  } else {
    std::fputs(list_text(found.documents, wanted.state, options.view).c_str(), stdout);
    if (found.more) std::fprintf(stderr, "resequencer: there are more: --max shows more of them\n");
  }
  if (!answers.complete()) return nobody(answers);
  if (complete) return Done{};
  return Error{ErrorClass::kTimeout, 0, "not listed to the end: partitions " + found.unfinished + ": ask again"};
}

Result<> stats(const config::Settings& settings, bool watch, const AskOptions& options) {
  auto session = Session::open(settings, options);
  if (!session) return session.error();
  for (;;) {
    Answers answers;
    if (auto asked = session.value()->collect(admin::StatsQuery{}, answers, whole); !asked) return asked;
    if (options.view == View::kJson) {
      print_json(Json{{"complete", answers.complete()},
                      {"partitions", answers.parts()},
                      {"targets", admin::targets_of(answers)},
                      {"queue", admin::queue_of(answers)},
                      {"waits", admin::waits_of(answers)},
                      {"lanes", admin::lanes_of(answers)},
                      {"failures", admin::failures_of(answers)},
                      {"breaker_changes", admin::breaker_changes_of(answers)}});
    } else {
      if (watch) std::puts(admin::time_text(runtime::SystemClock().now()).c_str());
      std::fputs((stats_text(answers, options.view) + "\n" + target_stats_text(answers)).c_str(), stdout);
      for (const std::string& more : {queue_stats_text(answers), lanes_text(answers), failures_stats_text(answers)})
        if (!more.empty()) std::printf("\n%s", more.c_str());
    }
    if (!watch) return answers.complete() ? Result<>(Done{}) : Result<>(nobody(answers));
    if (!answers.complete()) std::fprintf(stderr, "resequencer: %s\n", nobody(answers).message.c_str());
    std::fflush(stdout);
    std::this_thread::sleep_for(kWatchEvery);
  }
}

Result<> topology(const config::Settings& settings, const AskOptions& options) {
  auto session = Session::open(settings, options);
  if (!session) return session.error();
  Answers answers;
  // Those without a partition are to be seen too.
  if (auto asked = session.value()->collect_instances(admin::TopologyQuery{}, answers); !asked) return asked;
  if (auto asked = session.value()->collect(admin::TopologyQuery{}, answers, whole); !asked) return asked;
  if (options.view == View::kJson)
    print_answers(answers, answers.complete());
  else
    std::fputs(topology_text(answers, options.view).c_str(), stdout);
  return answers.complete() ? Result<>(Done{}) : Result<>(nobody(answers));
}

Result<> running_config(const config::Settings& settings, const AskOptions& options) {
  auto session = Session::open(settings, options);
  if (!session) return session.error();
  Answers answers;
  if (auto asked = session.value()->collect_instances(admin::ConfigQuery{}, answers); !asked) return asked;
  if (auto asked = session.value()->collect(admin::ConfigQuery{}, answers, whole); !asked) return asked;
  std::map<std::string, std::string> by_instance;
  for (const auto& [instance, reply] : answers.replies()) by_instance[instance] = text_in(reply, "toml", "");
  if (by_instance.empty()) return nobody(answers);
  if (options.view == View::kJson) print_json(Json(by_instance));
  for (const auto& [instance, toml] : by_instance) {
    if (options.view == View::kJson) break;
    std::printf("# instance %s\n", log::one_line(instance).c_str());
    std::istringstream lines(toml);
    for (std::string line; std::getline(lines, line);) std::printf("%s\n", log::one_line(line).c_str());
  }
  return answers.complete() ? Result<>(Done{}) : Result<>(nobody(answers));
}

}  // namespace reseq::cli
