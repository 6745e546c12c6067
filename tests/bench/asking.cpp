#include "tests/bench/asking.h"

#include <array>
#include <chrono>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "admin/channel.h"
#include "admin/query.h"
#include "tests/bench/requests.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

constexpr Milliseconds kOpenLimit{30'000};
constexpr Milliseconds kPollLimit{20};
// What a question on the way at the end, or one while a partition is taken over, may lack.
constexpr double kAnsweredMin = 0.8;
constexpr std::uint64_t kAskedToJudge = 10;

const std::array<admin::Query, 3> kQueries = {
    admin::DocumentQuery{id_of(1)}, admin::StatsQuery{},
    admin::ListQuery{.state = admin::State::kLive, .documents_max = admin::kPageDocumentsDefault}};

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
  const std::uint64_t asked = asked_.load();
  const auto least = asked < kAskedToJudge ? 0 : static_cast<std::uint64_t>(static_cast<double>(asked) * kAnsweredMin);
  if (asked == 0 || answered_.load() < least)
    throw std::runtime_error("of " + std::to_string(asked) + " questions " + std::to_string(answered_.load()) +
                             " were answered");
}

// A failure shows in the counts: the program that is measured is judged by them.
void Asking::run(double per_second) {
  using Clock = std::chrono::steady_clock;
  const auto pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / per_second));
  std::set<std::string> answered;
  for (auto next = Clock::now(); !stopping_;) {
    if (Clock::now() >= next) {
      next += pause;
      const std::string id = "bench-" + std::to_string(asked_.load());
      const Header correlation{admin::header::kCorrelationId, id};
      const admin::Request request{kQueries[asked_.load() % kQueries.size()]};
      if (channel_->send(requests_, id, admin::write_request(request), std::span(&correlation, 1))) ++asked_;
    }
    const auto reply = channel_->poll(kPollLimit);
    if (!reply || !reply.value()) continue;
    if (const auto id = admin::header_of(*reply.value(), admin::header::kCorrelationId)) answered.emplace(*id);
    answered_ = answered.size();
  }
}

}  // namespace reseq::bench
