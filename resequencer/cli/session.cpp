#include "cli/session.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "cli/json_text.h"
#include "kafka/error_questions.h"
#include "runtime/application.h"
#include "runtime/clients.h"

namespace reseq::cli {

namespace {

using admin::Json;
using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds kOpenLimit{10'000};
// Partitions that nobody could answer for, because they are on their way to another instance, are asked for again.
constexpr Milliseconds kRound{1'500};

Error with_fix(const Error& error, const config::Settings& settings) {
  if (!kafka::is_unknown_topic(error)) return runtime::with_fix(error, settings);
  return {ErrorClass::kInvalid, 0,
          error.message + ": `resequencer init` creates the topics through which instances are asked"};
}

}  // namespace

bool whole(const Answers& answers) {
  return answers.complete();
}

bool all_asked(const Answers& answers) {
  if (answers.replies().empty()) return false;
  std::int64_t answered = 0;
  for (const auto& [partition, part] : answers.partitions()) answered += is_refused(part) ? 0 : 1;
  return answered >= number_in(answers.replies().begin()->second, "partitions_asked", INT64_MAX);
}

bool is_refused(const Json& part) {
  return part.contains("refused");
}

Result<std::unique_ptr<Session>> Session::open(const config::Settings& settings, const AskOptions& options) {
  const runtime::Application application(settings);
  auto channel = admin::Channel::open(runtime::cluster_settings_of(application, std::nullopt),
                                      application.settings.topic_admin_replies,
                                      application.settings.topic_admin_requests, kOpenLimit);
  if (!channel) return with_fix(channel.error(), application.settings);
  return std::unique_ptr<Session>(
      new Session(admin::Asker(std::move(channel).value(), application.settings.topic_admin_requests), options));
}

Result<> Session::collect(const admin::Query& query, Answers& answers, const HasAll& has_all) {
  const auto until = SteadyClock::now() + std::chrono::milliseconds(options_.timeout.value());
  while (!has_all(answers)) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now()).count();
    if (left <= 0) break;
    if (auto asked = ask(query, answers, std::min(Milliseconds(left), kRound), has_all); !asked) return asked;
    if (answers.refused() && answers.replies().empty())
      return Error{ErrorClass::kInvalid, 0, "refused: " + *answers.refused()};
  }
  return Done{};
}

Result<> Session::collect_instances(const admin::Query& query, Answers& answers) {
  return ask(query, answers, std::min(options_.timeout, kRound), [](const Answers&) { return false; });
}

Result<> Session::ask(const admin::Query& query, Answers& answers, Milliseconds timeout, const HasAll& has_all) {
  return asker_.ask({query, timeout}, [&](const Json& reply) {
    answers.add(reply);
    return has_all(answers);
  });
}

}  // namespace reseq::cli
