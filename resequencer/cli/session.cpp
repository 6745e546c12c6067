#include "cli/session.h"

#include <algorithm>

#include "base/log.h"
#include "kafka/error_questions.h"
#include "kafka/settings.h"
#include "runtime/application/application.h"
#include "runtime/application/clients.h"

namespace reseq::cli {

namespace {

using admin::Json;

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
  return answers.all_asked();
}

bool is_refused(const Json& part) {
  return part.contains("refused");
}

std::string why_unanswered(const Answers& answers) {
  const std::string parked = answers.parked();
  if (parked.empty()) return "being taken over, or no instance runs";
  return "parked: " + parked + " (" + log::one_line(answers.parked_why()) + ")";
}

std::string why_unknown(const Answers& answers) {
  for (const auto& [partition, part] : answers.partitions())
    if (part.contains("paused"))
      return "partition " + std::to_string(partition) + " is paused, and what came for it since is not decided; " +
             "otherwise it was never requested, or completed and forgotten";
  return "it was never requested, or completed and forgotten";
}

Result<std::unique_ptr<Session>> Session::open(const config::Settings& settings, const AskOptions& options) {
  const runtime::Application application(settings);
  auto channel = admin::Channel::open(runtime::cluster_settings_of(application, std::nullopt),
                                      application.settings.topic_admin_replies,
                                      application.settings.topic_admin_requests, kafka::kBrokerAnswerLimit);
  if (!channel) return with_fix(channel.error(), application.settings);
  return std::unique_ptr<Session>(
      new Session(admin::Asker(std::move(channel).value(), application.settings.topic_admin_requests), options));
}

Result<> Session::collect(const admin::Query& query, Answers& answers, const HasAll& has_all) {
  return asker_.collect(query, answers, options_.timeout, has_all);
}

Result<> Session::collect_instances(const admin::Query& query, Answers& answers) {
  return asker_.ask({query, std::min(options_.timeout, admin::kRound)}, [&](const Json& reply) {
    answers.add(reply);
    return false;
  });
}

}  // namespace reseq::cli
