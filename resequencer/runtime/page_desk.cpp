#include "runtime/page_desk.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "admin/json_text.h"
#include "runtime/admin_replies.h"
#include "runtime/clients.h"

namespace reseq::runtime {

namespace {

using admin::Json;

constexpr Milliseconds kEvery{2'000};  // as `stats --watch`
constexpr Milliseconds kLook{100};
constexpr Milliseconds kOpenLimit{3'000};
constexpr Milliseconds kOpenAgain{10'000};
// An instance without a partition is not missed: every so many rounds are listened to for longer.
constexpr std::uint64_t kListenEvery = 5;
constexpr Milliseconds kListen{1'000};

void pause(Milliseconds time) {
  std::this_thread::sleep_for(std::chrono::milliseconds(time.value()));
}

}  // namespace

PageDesk::PageDesk(const Application& application, const Board& board, const Clock& clock, http::Broadcast& pictures)
    : application_(application), board_(board), clock_(clock), pictures_(pictures) {}

PageDesk::~PageDesk() {
  stop();
}

void PageDesk::start() {
  thread_ = std::thread([this] { run(); });
}

void PageDesk::ask_to_stop() {
  stop_ = true;
}

void PageDesk::stop() {
  ask_to_stop();
  if (thread_.joinable()) thread_.join();
}

void PageDesk::run() {
  while (!stop_) {
    if (!pictures_.wait_for_listener(std::chrono::milliseconds(kLook.value()))) {
      asker_.reset();
      expected_.clear();
      round_ = 0;
      continue;
    }
    const std::int64_t next = clock_.steady().value() + kEvery.value();
    show();
    while (!stop_ && clock_.steady().value() < next && pictures_.listeners() > 0) pause(kLook);
  }
  asker_.reset();
}

void PageDesk::show() {
  admin::Answers answers = own_answers();
  if (!asker_ && clock_.steady() >= retry_at_) {
    // Brokers that are gone are waited for; what is known meanwhile is shown.
    if (!trouble_.empty()) send(answers);
    const auto opened = open_asker();
    trouble_ = opened ? "" : told(opened.error());
    if (!opened) retry_at_ = Milliseconds(clock_.steady().value() + kOpenAgain.value());
    answers = own_answers();
  }
  if (asker_) ask_others(answers);
  if (pictures_.listeners() > 0) send(answers);
}

Result<> PageDesk::open_asker() {
  const config::Settings& settings = application_.settings;
  auto channel = admin::Channel::open(cluster_settings_of(application_, std::nullopt), settings.topic_admin_replies,
                                      settings.topic_admin_requests, kOpenLimit);
  if (!channel) return channel.error();
  asker_ = std::make_unique<admin::Asker>(std::move(channel).value(), settings.topic_admin_requests);
  return Done{};
}

void PageDesk::ask_others(admin::Answers& answers) {
  const bool listens = round_++ % kListenEvery == 0;
  std::set<std::string> heard;
  const auto asked = asker_->ask({admin::StatsQuery{}, listens ? kListen : admin::kRound}, [&](const Json& reply) {
    const std::string instance = admin::text_in(reply, "instance");
    heard.insert(instance);
    // What this process knows of itself it need not hear.
    if (instance != application_.settings.instance_id) answers.add(reply);
    return !listens && answers.complete() &&
           std::includes(heard.begin(), heard.end(), expected_.begin(), expected_.end());
  });
  expected_ = std::move(heard);
  if (asked) return;
  trouble_ = told(asked.error());
  retry_at_ = Milliseconds(clock_.steady().value() + kOpenAgain.value());
  asker_.reset();
}

admin::Answers PageDesk::own_answers() const {
  admin::Answers answers;
  answers.add(stats_reply(application_, board_.look(), clock_.now()));
  return answers;
}

void PageDesk::send(const admin::Answers& answers) {
  pictures_.send(picture_json(answers, application_.settings.instance_id, trouble_, kEvery, clock_.now())
                     .dump(-1, ' ', true, Json::error_handler_t::replace));
}

Json picture_json(const admin::Answers& answers, const std::string& own, const std::string& trouble, Milliseconds every,
                  UnixMs now) {
  Json picture = {{"instance", own}, {"time", admin::time_text(now)}, {"every_ms", every.value()}};
  if (!trouble.empty()) picture["trouble"] = trouble;
  picture["partitions_total"] = answers.total();
  picture["instances"] = Json::array();
  for (const auto& [instance, reply] : answers.replies()) {
    Json one = Json::object();
    for (const char* name :
         {"application", "instance", "host", "version", "workers", "time", "lateness", "longest_waits"})
      if (reply.contains(name)) one[name] = reply[name];
    picture["instances"].push_back(std::move(one));
  }
  picture["partitions"] = answers.parts();
  return picture;
}

}  // namespace reseq::runtime
