#include "tests/bench/asking.h"

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "admin/channel.h"
#include "admin/query.h"
#include "codec/decimal.h"
#include "kafka/cluster.h"
#include "tests/bench/requests.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

constexpr Milliseconds kOpenLimit{30'000};
constexpr Milliseconds kPollLimit{20};
// What was asked while a partition is taken over may lack its answer: a few at the beginning, and a part of many.
constexpr double kUnansweredMax = 0.2;
constexpr double kUnansweredFirstMax = 5;
// Answers that are on their way at the end, on a machine that is busy.
constexpr std::chrono::seconds kLastAnswersLimit{10};

const std::array<admin::Query, 3> kQueries = {
    admin::DocumentQuery{id_of(1)}, admin::StatsQuery{},
    admin::ListQuery{.state = admin::State::kLive, .documents_max = admin::kPageDocumentsDefault}};

// None: the answer is for somebody else. The page of a process asks for its charts, with ids that are no numbers.
std::optional<std::uint64_t> number_of_question(const kafka::Record& reply) {
  const auto id = admin::header_of(reply, admin::header::kCorrelationId);
  return id ? codec::parse_decimal<std::uint64_t>(*id) : std::nullopt;
}

}  // namespace

Asking::Asking(const Application& application, double per_second) : requests_(application.topic("admin.requests")) {
  kafka::ClusterSettings clients;
  clients.connection = application.site().connection();
  clients.group_id = application.id();  // nobody joins, nobody begins a transaction
  clients.transactional_id = application.id();
  channel_ = test::good(admin::Channel::open(clients, application.topic("admin.replies"), requests_, kOpenLimit));
  thread_ = std::thread([this, per_second] { run(per_second); });
}

Asking::~Asking() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void Asking::stop() {
  stopping_ = true;
  thread_.join();
  const double missing = static_cast<double>(asked_ - answered_);
  if (answered_ == 0 || missing > kUnansweredFirstMax + static_cast<double>(asked_) * kUnansweredMax)
    throw std::runtime_error("of " + std::to_string(asked_) + " questions " + std::to_string(answered_) +
                             " were answered");
}

// A failure shows in the counts: the program that is measured is judged by them. What is asked before its first answer
// does not count, because it may not have been there yet.
void Asking::run(double per_second) {
  using Clock = std::chrono::steady_clock;
  const auto pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / per_second));
  std::uint64_t sent = 0;
  std::optional<std::uint64_t> first;  // that was answered
  std::set<std::uint64_t> answered;
  const auto take_answer = [&] {
    const auto reply = channel_->poll(kPollLimit);
    if (!reply || !reply.value()) return;
    const auto number = number_of_question(*reply.value());
    if (!number || *number >= sent) return;
    if (!first) first = *number;
    if (*number >= *first) answered.insert(*number);
  };
  // A short run may be over before the program that is asked has opened its ears: it is asked until it answers once.
  auto until = Clock::now();
  const auto goes_on = [&] {
    if (!stopping_) until = Clock::now() + kLastAnswersLimit;
    return !stopping_ || (!first && Clock::now() < until);
  };
  for (auto next = Clock::now(); goes_on(); take_answer()) {
    if (Clock::now() < next) continue;
    next += pause;
    const std::string id = std::to_string(sent);
    const Header correlation{admin::header::kCorrelationId, id};
    const admin::Request request{kQueries[sent % kQueries.size()]};
    if (channel_->send(requests_, id, admin::write_request(request), std::span(&correlation, 1))) ++sent;
  }
  const auto some_are_missing = [&] { return !first || answered.size() < sent - *first; };
  while (some_are_missing() && Clock::now() < until) take_answer();
  asked_ = first ? sent - *first : sent;
  answered_ = answered.size();
}

}  // namespace reseq::bench
