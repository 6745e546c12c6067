#include "runtime/desk/admin_desk.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "codec/hash.h"
#include "runtime/application/clients.h"
#include "runtime/desk/admin_replies.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kInboxOpenLimit{5'000};
constexpr Milliseconds kInboxOpenAgain{10'000};
constexpr Milliseconds kWait{100};
// While an answer is on its way from a worker.
constexpr Milliseconds kWaitForWorker{5};
constexpr int kReplyTries = 200;
// A worker that does not get to it, because brokers do not answer it, is told of as it was when it told last.
constexpr Milliseconds kTellingMax{1'000};
const std::size_t kStatsQuery = admin::Query(admin::StatsQuery{}).index();
const std::size_t kTopologyQuery = admin::Query(admin::TopologyQuery{}).index();
// Of the time that the client waits: an answer needs the rest for its way.
constexpr std::int64_t kPatiencePercent = 80;
// More at once are refused by silence: each holds up to a page of documents. A page of every partition is many.
constexpr std::size_t kWaitingMax = 256;

}  // namespace

AdminDesk::AdminDesk(const Application& application, Board& board, std::vector<std::unique_ptr<Mailbox>>& mailboxes,
                     const Clock& clock)
    : application_(application), board_(board), mailboxes_(mailboxes), clock_(clock) {}

AdminDesk::~AdminDesk() {
  stop();
}

void AdminDesk::start() {
  thread_ = std::thread([this] { run(); });
}

void AdminDesk::ask_to_stop() {
  stop_ = true;
}

void AdminDesk::stop() {
  ask_to_stop();
  if (thread_.joinable()) thread_.join();
}

void AdminDesk::run() {
  std::int64_t retry_at = 0;
  while (!stop_) {
    if (!inbox_ && clock_.steady().value() < retry_at) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kWait.value()));
      continue;
    }
    const auto done = inbox_ ? serve() : open_inbox();
    if (done) continue;
    log_trouble(done.error());
    inbox_.reset();
    retry_at = clock_.steady().value() + kInboxOpenAgain.value();
  }
  inbox_.reset();
}

Result<> AdminDesk::open_inbox() {
  const config::Settings& settings = application_.settings;
  auto channel = admin::Channel::open(cluster_settings_of(application_, std::nullopt), settings.topic_admin_requests,
                                      settings.topic_admin_replies, kInboxOpenLimit);
  if (!channel) return channel.error();
  inbox_ = std::make_unique<admin::Inbox>(std::move(channel).value(), settings.topic_admin_replies);
  if (troubled_) spdlog::info("admin=open");
  troubled_ = false;
  return Done{};
}

// Once, until it is over: without the topics nothing else is wrong.
void AdminDesk::log_trouble(const Error& error) {
  if (!troubled_) spdlog::warn("admin=closed queries are not answered error={}", log::outside(told(error)));
  troubled_ = true;
}

Result<> AdminDesk::serve() {
  auto polled = inbox_->poll(waiting_.empty() && telling_.empty() ? kWait : kWaitForWorker);
  if (!polled) return polled.error();
  if (polled.value()) take(*polled.value());
  settle();
  return Done{};
}

void AdminDesk::take(const admin::Incoming& incoming) {
  if (const auto* refused = std::get_if<admin::Refused>(&incoming.asked)) {
    admin::Json json = reply_head(application_, "", clock_.now());
    json["refused"] = refusal_json(*refused);
    return reply(incoming.reply_to, json);
  }
  const auto& request = *std::get_if<admin::Request>(&incoming.asked);
  const bool of_states = std::holds_alternative<admin::DocumentQuery>(request.query) ||
                         std::holds_alternative<admin::ListQuery>(request.query);
  if (of_states) return ask_states(request, incoming.reply_to);
  if (telling_.size() >= kWaitingMax) return;
  const std::int64_t patience = std::min(kTellingMax.value(), request.timeout.value() * kPatiencePercent / 100);
  telling_.push_back(
      {incoming.reply_to, request.query.index(), board_.ask(), Milliseconds(clock_.steady().value() + patience)});
}

admin::Json AdminDesk::told_by_workers(std::size_t query) const {
  const UnixMs now = clock_.now();
  if (query == kStatsQuery) return stats_reply(application_, board_.look(), now);
  if (query == kTopologyQuery) return topology_reply(application_, board_.look(), now);
  return config_reply(application_, board_.look(), now);
}

void AdminDesk::ask_states(const admin::Request& request, const admin::ReplyTo& reply_to) {
  Waiting waiting{reply_to,
                  std::string(name_of(request.query)),
                  Partition(),
                  application_.partitions,
                  Milliseconds(clock_.steady().value() + request.timeout.value() * kPatiencePercent / 100),
                  nullptr};
  std::optional<Partition> one;
  if (const auto* list = std::get_if<admin::ListQuery>(&request.query)) one = list->partition;
  const auto* document = std::get_if<admin::DocumentQuery>(&request.query);
  if (document != nullptr && application_.partitioner != Partitioner::kUnchecked)
    one = codec::partition_of(document->id, application_.partitioner, application_.partitions);
  if (one && one->value() >= application_.partitions) {
    admin::Json json = reply_head(application_, waiting.query, clock_.now());
    json["refused"] =
        refusal_json({admin::Refusal::kNoSuchPartition, "there are " + std::to_string(application_.partitions)});
    return reply(reply_to, json);
  }
  if (one) waiting.partitions_asked = 1;
  for (std::int32_t i = one ? one->value() : 0; i < (one ? one->value() + 1 : application_.partitions); ++i) {
    waiting.partition = Partition(i);
    if (document != nullptr)
      post(*document, waiting);
    else
      post(*std::get_if<admin::ListQuery>(&request.query), waiting);
  }
}

// To the worker that said last that it has the partition, if one did.
void AdminDesk::post(const std::variant<admin::DocumentQuery, admin::ListQuery>& what, Waiting waiting) {
  if (waiting_.size() >= kWaitingMax) return;
  for (const Board::Seen& seen : board_.look()) {
    if (find_partition(*seen.now, waiting.partition) == nullptr) continue;
    waiting.box = std::make_shared<AnswerBox>();
    if (mailboxes_[static_cast<std::size_t>(seen.now->worker)]->post(
            {waiting.partition, what, waiting.until, waiting.box}))
      waiting_.push_back(std::move(waiting));
    return;
  }
}

void AdminDesk::settle() {
  const Milliseconds now = clock_.steady();
  std::erase_if(telling_, [&](const Telling& telling) {
    if (!board_.answered(telling.question) && now < telling.until) return false;
    reply(telling.reply_to, told_by_workers(telling.query));
    return true;
  });
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (waiting.box->look() == nullptr && now < waiting.until) return false;
    answer(waiting);
    return true;
  });
}

// Of a partition that went away since nothing is said: who has it now answers.
void AdminDesk::answer(const Waiting& waiting) {
  const StateAnswered* answered = waiting.box->look();
  if (answered != nullptr && !*answered) return;
  const UnixMs now = clock_.now();
  admin::Json json = reply_head(application_, waiting.query, now);
  json["partitions_asked"] = waiting.partitions_asked;
  json["partitions"] = admin::Json::array();
  if (answered != nullptr) {
    json["partitions"].push_back(state_json(**answered, application_, now));
  } else {
    json["partitions"].push_back(
        {{"partition", waiting.partition.value()},
         {"refused", refusal_json({admin::Refusal::kTimeout, "its worker is busy; look at its log"})}});
  }
  reply(waiting.reply_to, json);
}

void AdminDesk::reply(const admin::ReplyTo& to, const admin::Json& json) {
  const std::string text = json.dump(-1, ' ', false, admin::Json::error_handler_t::replace);
  auto sent = inbox_->reply(to, text);
  // The queue is full: it soon has room, or the brokers are gone.
  for (int i = 0; i < kReplyTries && !sent && sent.error().what_to_do == ErrorClass::kRetriable && !stop_; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kWaitForWorker.value()));
    sent = inbox_->reply(to, text);
  }
  if (!sent) spdlog::warn("admin=reply error={}", log::outside(sent.error().message));
}

}  // namespace reseq::runtime
