#include "runtime/look_up.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "admin/asker.h"
#include "codec/base64.h"
#include "kafka/error_questions.h"
#include "model/command.h"
#include "runtime/application.h"
#include "runtime/clients.h"
#include "runtime/event_history.h"

namespace reseq::runtime {

namespace {

using admin::Json;
using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds kOpenLimit{5'000};
constexpr Milliseconds kAnswerLimit{5'000};
constexpr std::chrono::seconds kEventsLimit{10};
// Some seconds of reading. `why` reads all of them.
constexpr HistoryLimits kHistory{.offsets_max = 500'000, .events_max = 200};
constexpr int kBadRequest = 400;

std::string text_of(const Error& error, const Application& application) {
  if (kafka::is_unknown_topic(error)) return error.message + ": `resequencer init` creates the topics";
  return with_fix(error, application.settings).message;
}

void ask_instances(const Application& application, const std::string& id, const std::atomic<bool>& stop, Json& found) {
  const config::Settings& settings = application.settings;
  admin::Answers answers;
  auto channel = admin::Channel::open(cluster_settings_of(application, std::nullopt), settings.topic_admin_replies,
                                      settings.topic_admin_requests, kOpenLimit);
  if (channel) {
    admin::Asker asker(std::move(channel).value(), settings.topic_admin_requests);
    const auto asked = asker.collect(admin::DocumentQuery{id}, answers, kAnswerLimit,
                                     [&](const admin::Answers& have) { return stop || have.all_asked(); });
    if (!asked) found["trouble"] = text_of(asked.error(), application);
  } else {
    found["trouble"] = text_of(channel.error(), application);
  }
  found["complete"] = answers.all_asked();
  found["partitions"] = answers.parts();
}

void read_events(const Application& application, const std::string& id, const std::atomic<bool>& stop, Json& found) {
  found["events_kept"] = application.settings.events;
  found["events"] = Json::array();
  const auto until = SteadyClock::now() + kEventsLimit;
  const auto read = read_events_of(application, id, kHistory,
                                   [&](Partition, Offset, Offset) { return !stop && SteadyClock::now() < until; });
  found["events_whole"] = read.ok() && read.value().whole;
  if (!read) {
    found["events_trouble"] = text_of(read.error(), application);
    return;
  }
  for (const PastEvent& event : read.value().events)
    found["events"].push_back({{"time", admin::time_text(event.at)}, {"event", event.json}});
}

}  // namespace

std::optional<std::string> id_of(std::string text) {
  constexpr std::size_t kQuantum = 4;
  if (text.find_first_of("+/=") != std::string::npos || text.size() > kMaxIdBytes * 2) return std::nullopt;
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.append((kQuantum - text.size() % kQuantum) % kQuantum, '=');
  auto id = codec::parse_base64(text);
  if (!id || id->empty() || id->size() > kMaxIdBytes) return std::nullopt;
  return id;
}

http::Answer look_up(const config::Settings& settings, const http::Question& asked, const std::atomic<bool>& stop) {
  const auto parameter = asked.parameters.find("id");
  const auto id = parameter == asked.parameters.end() ? std::nullopt : id_of(parameter->second);
  if (!id) return {.status = kBadRequest, .body = "id has to be 1 to 4096 bytes in base64url without padding\n"};
  // The one that the workers share is still being completed by the brokers' answers when the page is there already.
  const Application application(settings);
  Json found = Json::object();
  admin::set_bytes(found, "id", *id);
  ask_instances(application, *id, stop, found);
  read_events(application, *id, stop, found);
  return {.body = found.dump(-1, ' ', false, Json::error_handler_t::replace), .content_type = "application/json"};
}

}  // namespace reseq::runtime
