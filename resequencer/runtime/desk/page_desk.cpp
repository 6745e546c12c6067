#include "runtime/desk/page_desk.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "admin/failure_answers.h"
#include "admin/json_text.h"
#include "base/log.h"
#include "runtime/application/clients.h"
#include "runtime/application/letters.h"
#include "runtime/desk/admin_replies.h"
#include "runtime/desk/page_recall.h"

namespace reseq::runtime {

namespace {

using admin::Json;

constexpr Milliseconds kEvery{2'000};  // as `stats --watch`
constexpr Milliseconds kLook{100};
constexpr Milliseconds kAskerOpenLimit{3'000};
constexpr Milliseconds kAskerOpenAgain{10'000};
// A question that brokers do not take holds up the picture for so long.
constexpr Milliseconds kSendLimit{3'000};
// An instance without a partition is not missed: every so many rounds are listened to for longer.
constexpr std::uint64_t kListenEvery = 5;
constexpr Milliseconds kListen{1'000};
// While nobody looks it has to be known all the same who there was. Of all instances one asks: the others hear its
// answers, and no two begin at the same time for long.
constexpr Milliseconds kRememberEvery = PageMemory::kEvery;
// By then this process has heard all that could be read back.
constexpr unsigned kRecallsMax = static_cast<unsigned>(PageMemory::kSpan.value() / kRememberEvery.value());
constexpr Milliseconds kLettersAgain{30'000};
constexpr Milliseconds kLettersLimit{1'500};

}  // namespace

PageDesk::PageDesk(const Application& application, const Board& board, const Clock& clock,
                   const kafka::BrokerWatch& brokers, http::Broadcast& pictures)
    : application_(application),
      board_(board),
      clock_(clock),
      brokers_(brokers),
      pictures_(pictures),
      recalls_left_(kRecallsMax) {}

PageDesk::~PageDesk() {
  stop();
}

void PageDesk::start() {
  const config::Settings& settings = application_.settings;
  if (settings.http_page && !settings.http_listen.empty()) thread_ = std::thread([this] { run(); });
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
      remember();
      expected_.clear();
      letters_ = nullptr;  // counted anew for who looks next
      letters_at_ = Milliseconds(0);
      round_ = 0;
      continue;
    }
    const std::int64_t next = clock_.steady().value() + kEvery.value();
    overheard_ = {};
    show();
    while (!stop_ && clock_.steady().value() < next && pictures_.listeners() > 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(kLook.value()));
  }
  asker_.reset();
}

void PageDesk::remember() {
  if (brokers_.away()) return;
  const auto overhear = [this](const Json& reply) {
    if (tells_of_another(reply, application_.settings)) overheard_.add(reply);
  };
  if (asker_ && !asker_->hear(overhear)) asker_.reset();
  const Milliseconds now = clock_.steady();
  if (now < remember_at_) return;
  remember_at_ = Milliseconds(now.value() + kRememberEvery.value());
  admin::Answers answers = std::exchange(overheard_, {});
  const bool others_asked = !answers.replies().empty();
  answers.add(stats_reply(application_, board_.look(), clock_.now()));
  if (!others_asked && !asker_ && open_asker()) trouble_.clear();
  if (!others_asked && asker_) {
    round_ = 0;  // and listens for those without a partition
    ask_others(answers);
  }
  memory_.take(answers, clock_.now());
  recall();
}

// Behind the picture, which does not wait for it, and not at all for who is not there.
void PageDesk::recall() {
  if (recalls_left_ == 0 || brokers_.away() || clock_.steady() < recall_at_) return;
  const auto recalled = recall_instances(application_, clock_.now(), stop_, memory_);
  recalls_left_ = recalled ? 0 : recalls_left_ - 1;
  recall_at_ = Milliseconds(clock_.steady().value() + kRememberEvery.value());
  if (!recalled && !recall_failed_)
    spdlog::warn(
        "page=recall who answered before this process began is not known: the page lacks those that died error={}",
        log::outside(told(recalled.error())));
  if (recalled && recall_failed_) spdlog::info("page=recall who answered before this process began is known now");
  if (recalled && !recalled.value() && !stop_)
    spdlog::info("page=recall the oldest replies of the last quarter of an hour were not read: there are too many");
  recall_failed_ = !recalled;
}

void PageDesk::show() {
  admin::Answers answers = own_answers();
  // Whoever asks now waits for a while, and hears nothing. When they are back it is tried at once.
  if (brokers_.away()) {
    trouble_.clear();
    retry_at_ = Milliseconds(0);
    return send(answers);
  }
  if (!asker_ && clock_.steady() >= retry_at_) {
    // Brokers that are gone are waited for; what is known meanwhile is shown.
    if (!trouble_.empty()) send(answers);
    const auto opened = open_asker();
    trouble_ = opened ? "" : told(opened.error());
    if (!opened) retry_at_ = Milliseconds(clock_.steady().value() + kAskerOpenAgain.value());
    answers = own_answers();
  }
  if (asker_) ask_others(answers);
  memory_.take(answers, clock_.now());
  if (pictures_.listeners() > 0) send(answers);
  recall();
  if (trouble_.empty() && clock_.steady() >= letters_at_) look_at_letters();
}

// Behind the picture, which does not wait for it: the next one shows it.
void PageDesk::look_at_letters() {
  const auto survey = survey_letters(application_, kLettersLimit, stop_);
  letters_ = Json::object();
  if (survey) {
    letters_["whole"] = survey.value().whole;
    letters_["reasons"] = survey.value().counts.json();
  } else {
    letters_["trouble"] = told(survey.error());
  }
  letters_at_ = Milliseconds(clock_.steady().value() + kLettersAgain.value());
}

Result<> PageDesk::open_asker() {
  const config::Settings& settings = application_.settings;
  auto channel = admin::Channel::open(cluster_settings_of(application_, std::nullopt), settings.topic_admin_replies,
                                      settings.topic_admin_requests, kAskerOpenLimit);
  if (!channel) return channel.error();
  asker_ = std::make_unique<admin::Asker>(std::move(channel).value(), settings.topic_admin_requests, kSendLimit);
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
  if (asked) {
    trouble_.clear();
    return;
  }
  trouble_ = told(asked.error());
  retry_at_ = Milliseconds(clock_.steady().value() + kAskerOpenAgain.value());
  asker_.reset();
}

admin::Answers PageDesk::own_answers() const {
  admin::Answers answers;
  answers.add(stats_reply(application_, board_.look(), clock_.now()));
  return answers;
}

void PageDesk::send(const admin::Answers& answers) {
  Json picture = picture_json(answers, application_.settings.instance_id, trouble_, kEvery, clock_.now());
  if (application_.settings.http_page_operations) picture["operations"] = true;
  if (!letters_.is_null()) picture["letters"] = letters_;
  picture["history"] = memory_.history(clock_.now());
  picture["silent"] = memory_.silent(answers, clock_.now());
  if (const auto away = brokers_.away())
    picture["brokers_away"] = {{"since", admin::time_text(away->since)}, {"why", away->why}};
  pictures_.send(picture.dump(-1, ' ', true, Json::error_handler_t::replace));
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
  picture["targets"] = admin::targets_of(answers);
  picture["queue"] = admin::queue_of(answers);
  picture["waits"] = admin::waits_of(answers);
  picture["lanes"] = admin::lanes_of(answers);
  picture["failures"] = admin::failures_of(answers);
  picture["breaker_changes"] = admin::breaker_changes_of(answers);
  picture["point"] = chart_point(answers, now);
  return picture;
}

}  // namespace reseq::runtime
