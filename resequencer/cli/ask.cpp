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
#include "admin/json_text.h"
#include "base/log.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/show.h"
#include "cli/why.h"
#include "codec/base64.h"
#include "runtime/application.h"
#include "runtime/clients.h"
#include "runtime/clock.h"
#include "runtime/event_history.h"

namespace reseq::cli {

namespace {

using admin::Json;
using admin::text_in;
using runtime::PastEvent;
constexpr std::chrono::milliseconds kWatchEvery{2'000};

Error nobody(const Answers& answers) {
  if (answers.total() == 0)
    return {ErrorClass::kTimeout, 0, "no instance answers: is one running, and may it read the admin topic?"};
  return {ErrorClass::kTimeout, 0,
          "not answered for partitions " + answers.lacking() +
              ": they are being taken over, or no instance has them; ask again"};
}

void print_json(const Json& all) {
  std::fputs(admin::indented(all).c_str(), stdout);
}

// What a program gets: the parts, and whether they are all.
void print_json(const Answers& answers, bool complete) {
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

Error unowned() {
  return {ErrorClass::kTimeout, 0,
          "nobody answers for the partition of this document: it is being taken over, or no instance runs"};
}

// What was found so far, of all partitions.
struct Found {
  Json documents = Json::array();
  bool more = false;       // there are more than were asked for
  std::string unfinished;  // partitions that were not listed to their ends, as "1, 3"

  void note_unfinished(Partition partition) {
    unfinished += (unfinished.empty() ? "" : ", ") + std::to_string(partition.value());
  }
};

// Pages of one partition until it has ended or there are enough.
Result<> more_pages(Session& session, admin::ListQuery query, const Json& first, std::size_t documents_max,
                    Found& found) {
  Json part = first;
  for (;;) {
    for (Json document : part.value("documents", Json::array())) {
      if (!document.is_object()) continue;
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

}  // namespace

Result<> describe(const config::Settings& settings, const std::string& id, const AskOptions& options) {
  auto session = Session::open(settings, options);
  if (!session) return session.error();
  Answers answers;
  if (auto asked = session.value()->collect(admin::DocumentQuery{id}, answers, all_asked); !asked) return asked;
  if (options.view == View::kJson) print_json(answers, all_asked(answers));
  const bool found = for_each_document(answers, [&](const Json& part, const Json& document) {
    if (options.view != View::kJson) std::fputs(document_text(part, document).c_str(), stdout);
  });
  if (found) return Done{};
  return all_asked(answers) ? unknown(id, answers) : unowned();
}

Result<> why(const config::Settings& settings, const std::string& id, const AskOptions& options) {
  auto session = Session::open(settings, options);
  if (!session) return session.error();
  Answers answers;
  if (auto asked = session.value()->collect(admin::DocumentQuery{id}, answers, all_asked); !asked) return asked;
  const runtime::Application application(settings);
  const auto read = runtime::read_events_of(application, id, {}, progress_of(application.settings.topic_events));
  if (!read) return runtime::with_fix(read.error(), application.settings);
  const std::vector<PastEvent>& events = read.value().events;
  if (options.view == View::kJson) {
    Json past = Json::array();
    for (const PastEvent& event : events) past.push_back({{"time", admin::time_text(event.at)}, {"event", event.json}});
    print_json({{"complete", all_asked(answers)}, {"partitions", answers.parts()}, {"events", std::move(past)}});
  } else {
    for_each_document(answers, [](const Json& part, const Json& document) {
      std::fputs(standing_text(part, document).c_str(), stdout);
    });
    if (!events.empty()) std::fputs(timeline_text(events, options.view).c_str(), stdout);
  }
  if (!all_asked(answers)) return unowned();
  const bool known = for_each_document(answers, [](const Json&, const Json&) {});
  return known || !events.empty() ? Result<>(Done{}) : Result<>(unknown(id, answers));
}

Result<> list(const config::Settings& settings, const ListOptions& wanted, const AskOptions& options) {
  auto session = Session::open(settings, options);
  if (!session) return session.error();
  admin::ListQuery query;
  query.id_prefix = wanted.id_prefix;
  query.state = wanted.state;
  query.older_than = wanted.older_than;
  query.documents_max =
      static_cast<std::size_t>(std::min<std::int64_t>(wanted.documents_max, admin::kPageDocumentsMax));
  Answers answers;
  if (auto asked = session.value()->collect(query, answers, whole); !asked) return asked;
  Found found;
  for (const auto& [partition, part] : answers.partitions()) {
    if (is_refused(part)) continue;
    query.partition = Partition(static_cast<std::int32_t>(partition));
    const auto enough = static_cast<std::size_t>(wanted.documents_max);
    if (auto paged = more_pages(*session.value(), query, part, enough, found); !paged) return paged;
  }
  const bool complete = answers.complete() && found.unfinished.empty();
  if (options.view == View::kJson) {
    print_json(Json{{"complete", complete}, {"more", found.more}, {"documents", found.documents}});
  } else {
    std::fputs(list_text(found.documents, options.view).c_str(), stdout);
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
      print_json(answers, answers.complete());
    } else {
      if (watch) std::puts(admin::time_text(runtime::SystemClock().now()).c_str());
      std::fputs(stats_text(answers, options.view).c_str(), stdout);
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
    print_json(answers, answers.complete());
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
