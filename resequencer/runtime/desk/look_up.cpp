#include "runtime/desk/look_up.h"

#include <algorithm>
#include <utility>

#include "admin/asker.h"
#include "admin/json_text.h"
#include "codec/base64.h"
#include "codec/decimal.h"
#include "kafka/error_questions.h"
#include "model/command.h"
#include "runtime/application/application.h"
#include "runtime/application/clients.h"
#include "runtime/application/event_history.h"
#include "runtime/application/letters.h"

namespace reseq::runtime {

namespace {

using admin::Json;

constexpr Milliseconds kChannelOpenLimit{5'000};
constexpr Milliseconds kAnswerLimit{5'000};
constexpr std::uint32_t kEventsDefault = 20;
constexpr std::uint32_t kEventsMax = 1'000;
constexpr std::size_t kLettersShown = 3;
constexpr int kBadRequest = 400;

std::string text_of(const Error& error, const Application& application) {
  if (kafka::is_unknown_topic(error)) return error.message + ": `resequencer init` creates the topics";
  return with_fix(error, application.settings).message;
}

void ask_instances(const Application& application, const std::string& id, const std::atomic<bool>& stop, Json& found) {
  const config::Settings& settings = application.settings;
  admin::Answers answers;
  auto channel = admin::Channel::open(cluster_settings_of(application, std::nullopt), settings.topic_admin_replies,
                                      settings.topic_admin_requests, kChannelOpenLimit);
  if (channel) {
    admin::Asker asker(std::move(channel).value(), settings.topic_admin_requests);
    const auto asked = asker.collect(admin::DocumentQuery{id}, answers, kAnswerLimit,
                                     [&](const admin::Answers& have) { return stop || have.all_asked(); });
    if (!asked) found["trouble"] = text_of(asked.error(), application);
  } else {
    found["trouble"] = text_of(channel.error(), application);
  }
  found["complete"] = answers.all_asked();
  found["partitions_total"] = answers.total();
  found["partitions"] = answers.parts();
}

void read_events(const Application& application, const std::string& id, std::size_t events_max, const GoOn& go_on,
                 Json& found) {
  found["events_kept"] = application.settings.events;
  found["events"] = Json::array();
  const HistoryOf document{id, borders_of(found["partitions"], application.settings.topic_requests)};
  const auto read = read_events_of(application, document, {events_max, kEventsTime}, go_on);
  if (!read) {
    found["events_trouble"] = text_of(read.error(), application);
    return;
  }
  found["events_more"] = read.value().more;
  found["events_unread"] = unread_json(read.value().unread);
  for (const PastEvent& event : read.value().events) found["events"].push_back(event_json(event));
  for (Json& part : found["partitions"]) {
    if (!part.contains("documents")) continue;
    for (Json& row : part["documents"]) {
      const Latecomers late = latecomers_of(part, row, read.value().events, application.settings.topic_requests);
      if (late.count > 0) row["latecomers"] = {{"count", late.count}, {"last", late.last}};
    }
  }
}

void read_letters(const Application& application, const std::string& id, const GoOn& go_on, Json& found) {
  found["letters"] = Json::array();
  const auto read = read_letters_of(application, id, kLettersShown, kLettersTime, go_on);
  if (!read) {
    found["letters_trouble"] = text_of(read.error(), application);
    return;
  }
  const auto partitions = static_cast<std::int32_t>(admin::number_in(found, "partitions_total"));
  for (const PastLetter& letter : read.value().letters)
    found["letters"].push_back(letter_json(letter, id, application.partitioner, partitions));
  found["letters_more"] = read.value().others;
  found["letters_unread"] = unread_json(read.value().unread);
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

http::Answer look_up(const config::Settings& settings, const kafka::LogCallback& client_log,
                     const http::Question& asked, const std::atomic<bool>& stop) {
  const auto parameter = asked.parameters.find("id");
  const auto id = parameter == asked.parameters.end() ? std::nullopt : id_of(parameter->second);
  if (!id) return {.status = kBadRequest, .body = "id has to be 1 to 4096 bytes in base64url without padding\n"};
  const auto wanted = asked.parameters.find("last");
  const auto last = wanted == asked.parameters.end() ? std::optional(kEventsDefault)
                                                     : codec::parse_decimal<std::uint32_t>(wanted->second);
  if (!last || *last == 0 || *last > kEventsMax) return {.status = kBadRequest, .body = "last has to be 1 to 1000\n"};
  // The one that the workers share is still being completed by the brokers' answers when the page is there already.
  Application application(settings);
  application.client_log = client_log;
  Json found = Json::object();
  admin::set_bytes(found, "id", *id);
  ask_instances(application, *id, stop, found);
  const GoOn go_on = [&](Partition, Offset, Offset) { return !stop; };
  if (!stop) read_letters(application, *id, go_on, found);
  if (!stop) read_events(application, *id, *last, go_on, found);
  return {.body = found.dump(-1, ' ', false, Json::error_handler_t::replace), .content_type = "application/json"};
}

}  // namespace reseq::runtime
